"""From the journal of a rebuild to the text of one step's pull request."""
