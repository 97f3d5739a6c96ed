package foreign

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// imports are what the program is linked to, in the order of Process.own: what finds everything else, and what moves bytes.
var imports = []string{"dlopen", "dlsym", "read", "write"}

// libraries have them. Since 2.34 the GNU C library has all four itself, and an empty libdl for programs that know it otherwise.
var libraries = []string{"libc.so.6", "libdl.so.2"}

// image is the program as an ELF file (elf(5)): two segments, the table for the loader, the machine code.
func image(loader string) []byte {
	const head, segment = 64, 56
	var names, symbols, relocations, dynamic bytes.Buffer
	put := func(to *bytes.Buffer, v any) { _ = binary.Write(to, binary.LittleEndian, v) } // a buffer takes everything, and the sizes are fixed
	name := func(text string) uint32 {
		at := names.Len()
		names.WriteString(text + "\x00")
		return uint32(at)
	}
	name("")
	put(&symbols, elf.Sym64{})
	for i, text := range imports {
		put(&symbols, elf.Sym64{Name: name(text), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)})
		put(&relocations, elf.Rela64{Off: uint64(dataAt + 8*i), Info: elf.R_INFO(uint32(i+1), relocation)})
	}
	var needed []uint64
	for _, text := range libraries {
		needed = append(needed, uint64(name(text)))
	}
	const segments = 5
	var text bytes.Buffer
	text.Write(make([]byte, head+segments*segment))
	place := func(b []byte) (at uint64) {
		text.Write(make([]byte, -text.Len()&7))
		at = uint64(textAt + text.Len())
		text.Write(b)
		return at
	}
	loaderAt, codeAt := place(append([]byte(loader), 0)), place(code)
	entry := func(tag elf.DynTag, v uint64) { put(&dynamic, elf.Dyn64{Tag: int64(tag), Val: v}) }
	for _, n := range needed {
		entry(elf.DT_NEEDED, n)
	}
	entry(elf.DT_STRTAB, place(names.Bytes()))
	entry(elf.DT_STRSZ, uint64(names.Len()))
	entry(elf.DT_SYMTAB, place(symbols.Bytes()))
	entry(elf.DT_SYMENT, 24)
	entry(elf.DT_RELA, place(relocations.Bytes())) //nolint:misspell // a name of the format
	entry(elf.DT_RELASZ, uint64(relocations.Len()))
	entry(elf.DT_RELAENT, 24)
	entry(elf.DT_NULL, 0)

	var front bytes.Buffer
	put(&front, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Entry: codeAt, Phoff: head, Ehsize: head, Phentsize: segment, Phnum: segments,
	})
	length := uint64(text.Len())
	data := append(make([]byte, dynamicAt-dataAt), dynamic.Bytes()...)
	for _, s := range []elf.Prog64{
		{Type: uint32(elf.PT_INTERP), Flags: uint32(elf.PF_R), Off: loaderAt - textAt, Vaddr: loaderAt, Filesz: uint64(len(loader) + 1), Memsz: uint64(len(loader) + 1), Align: 1},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: textAt, Filesz: length, Memsz: length, Align: page},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: page, Vaddr: dataAt, Filesz: uint64(len(data)), Memsz: memoryAt - dataAt + Memory, Align: page},
		{Type: uint32(elf.PT_DYNAMIC), Flags: uint32(elf.PF_R | elf.PF_W), Off: page + dynamicAt - dataAt, Vaddr: dynamicAt, Filesz: uint64(dynamic.Len()), Memsz: uint64(dynamic.Len()), Align: 8},
		{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16},
	} {
		s.Paddr = s.Vaddr
		put(&front, s)
	}
	file := make([]byte, page, page+len(data))
	copy(file, text.Bytes())
	copy(file, front.Bytes())
	return append(file, data...)
}
