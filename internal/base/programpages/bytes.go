package programpages

import "unsafe"

// Bytes returns the bytes of an embedded file without a copy; nobody may write to them. A file that is embedded as a string lies among the pages that
// Release gives back. One that is embedded as bytes does not, because it may be written to.
func Bytes(embedded string) []byte { return unsafe.Slice(unsafe.StringData(embedded), len(embedded)) }
