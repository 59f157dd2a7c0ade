"""From labelled files to weights, card and calibration: a wing per evidence, and what all of them share.

``sources`` reads lists of public files, ``folds`` holds whole sources out, ``backbone`` has the pretrained weights,
``rules`` fits linear rules on what they say, and ``bands`` sets the bounds between which a model says ``inconclusive``.
"""
