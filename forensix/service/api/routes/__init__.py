"""The paths of the service, one module for each resource of the specification's section 4."""
