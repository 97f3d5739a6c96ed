//go:build unix && !linux

package main

import "golang.org/x/sys/unix"

// getModes asks for the modes of a terminal.
const getModes = unix.TIOCGETA
