"""Facts of PDF documents: ``reader`` gathers what bytes, revisions, objects, drawing and signatures say."""
