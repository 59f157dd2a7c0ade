"""Training of forensix-face: which faces, the fakes made of them, degradations, and the run."""
