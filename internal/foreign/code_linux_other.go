//go:build linux && !amd64 && !arm64

package foreign

import "debug/elf"

const (
	interpreter = ""
	machine     = elf.EM_NONE
	relocation  = uint32(0)
)

var code []byte
