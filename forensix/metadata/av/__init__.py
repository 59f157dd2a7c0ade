"""Facts of videos and recordings: ``reader`` gathers what containers, tags, streams, sound and frames say."""
