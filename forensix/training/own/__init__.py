"""Training on a manifest of your own: what `forensix.train` and ``forensix train`` do.

`deal` shares groups out to what is learnt from, what stops training and what is measured on; `material` keeps decoded
files; `pictures`, `voices` and `faces` say how each network is fed, degraded alike for both classes, and `learn` has it
learn; `run` goes from the manifest to weights and card with the same loop, calibration and bounds as the models that
ship.
"""
