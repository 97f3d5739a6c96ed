package boundedfile

import (
	"errors"
	"io/fs"
)

// missingError is the error of a file or folder that does not exist.
type missingError struct{ path string }

func (m *missingError) Error() string { return m.path + " does not exist" }
func (*missingError) Unwrap() error   { return fs.ErrNotExist }

// Missing returns the error of a file or folder that does not exist, in the same words in every command. errors.Is finds fs.ErrNotExist in it.
func Missing(path string) error { return &missingError{path} }

// Named returns Missing for the error of an operation on a path that does not exist, and other errors unchanged.
func Named(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Missing(path)
	}
	return err
}
