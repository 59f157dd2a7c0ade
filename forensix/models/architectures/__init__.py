"""Network definitions, one file each; a file offers ``build(**config) -> torch.nn.Module``."""
