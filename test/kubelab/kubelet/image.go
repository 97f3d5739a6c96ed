package kubelet

import (
	"fmt"
	"path"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// missingHost is the registry whose images cannot be pulled. All other images stand for this machine.
const missingHost = "missing.example/"

// pull returns the error of pulling an image.
func pull(image string) error {
	if !strings.HasPrefix(image, missingHost) {
		return nil
	}
	return fmt.Errorf("failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image, image, image)
}

// imageName returns the last word of an image's path, without tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// arguments returns the command line of a container. Without a command, the program is named as the image: the entry point of most images.
func arguments(c *v1.Container) []string {
	command := c.Command
	if len(command) == 0 {
		command = []string{imageName(c.Image)}
	}
	return append(append([]string{}, command...), c.Args...)
}
