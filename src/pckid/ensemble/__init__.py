"""The ensemble of mixtures: what is trained, how, and the kernel's feature map."""
