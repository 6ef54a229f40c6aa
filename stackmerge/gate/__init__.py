"""Gates: commands that must pass on a step's tree, and what each of them proved."""
