"""The forges that stacks are published on: GitHub, GitLab, and Gitea or Forgejo."""
