"""What checks what we write, and takes nothing of ours on trust: no file here imports ours."""
