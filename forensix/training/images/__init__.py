"""Training of forensix-image and forensix-attribution: lists, cached views, features, the fit, the run."""
