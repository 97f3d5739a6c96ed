//go:build unix

package mockserver

import (
	"os/exec"
	"syscall"
)

// isolate keeps a Ctrl-C at the terminal from ending the server before the client has drained.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
