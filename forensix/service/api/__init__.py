"""What answers requests: the application, its routes, and how bodies are read, bounded and refused."""
