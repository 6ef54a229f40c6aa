"""The demo: an upstream and a fork in miniature, made offline, on which the whole job can be seen to work."""
