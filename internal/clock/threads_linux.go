package clock

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scanEvery is how many readings lie between two searches for new threads.
const scanEvery = 50

// threadWaits reads how long each thread of the process was runnable and had no processor: the second number of
// /proc/self/task/*/schedstat, ns. A wait is counted when it ends.
type threadWaits struct {
	files map[int]*threadFile
	reads int
}

type threadFile struct {
	fd   int
	last int64
}

// grown is what the thread waited since the last call; false = it has ended. The call is a raw one: it cannot wait (see gridTimer).
func (f *threadFile) grown() (d int64, ok bool) {
	var buf [64]byte
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f.fd), uintptr(unsafe.Pointer(&buf)), uintptr(len(buf)), 0, 0, 0)
	if errno != 0 || n == 0 {
		return 0, false
	}
	wait := secondNumber(buf[:n])
	d = wait - f.last
	f.last = wait
	return d, true
}

// read is what threads waited since the reading before.
func (w *threadWaits) read() (s waits) {
	first := w.files == nil
	if w.reads%scanEvery == 0 {
		w.scan()
	}
	w.reads++
	for id, f := range w.files {
		d, ok := f.grown()
		if !ok {
			unix.Close(f.fd)
			delete(w.files, id)
		}
		s.all += d
		s.second = max(s.second, min(s.most, d))
		s.most = max(s.most, d)
	}
	if first { // what threads waited before anybody looked
		return waits{}
	}
	return s
}

// threadIDs are the ids of the process's threads; none where the system does not tell.
func threadIDs() (ids []int) {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// scan opens the files of threads that are new.
func (w *threadWaits) scan() {
	if w.files == nil {
		w.files = map[int]*threadFile{}
	}
	for _, id := range threadIDs() {
		if w.files[id] != nil {
			continue
		}
		if fd, err := unix.Open("/proc/self/task/"+strconv.Itoa(id)+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			w.files[id] = &threadFile{fd: fd}
		}
	}
}

// close gives the files back.
func (w *threadWaits) close() {
	for _, f := range w.files {
		unix.Close(f.fd)
	}
	w.files = map[int]*threadFile{}
}

// secondNumber reads the second of the decimal numbers in a line.
func secondNumber(line []byte) (n int64) {
	field := 0
	for _, c := range line {
		switch {
		case c < '0' || c > '9':
			field++
			if field == 2 {
				return n
			}
		case field == 1:
			n = n*10 + int64(c-'0')
		}
	}
	return n
}
