"""`Memory.jobs`: everything that tidies a memory, each as plan, draft and apply."""
