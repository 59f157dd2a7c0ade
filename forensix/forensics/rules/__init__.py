"""Rules that turn facts into claims: a file a medium and subject, and what any medium shares."""
