package clock

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// scanEvery is how many looks pass between two searches for new threads.
const scanEvery = 10

// threadWaits reads how long each thread of the process was runnable and had no processor: the second number of
// /proc/self/task/*/schedstat, ns. A wait is counted when it ends.
type threadWaits struct {
	files map[int]*threadFile
	looks int
	me    *threadFile // the thread that looks
}

type threadFile struct {
	file *os.File
	last int64
}

// own names the calling thread as the one that looks.
func (w *threadWaits) own() {
	if f, err := os.Open("/proc/self/task/" + strconv.Itoa(unix.Gettid()) + "/schedstat"); err == nil {
		w.me = &threadFile{file: f}
		w.me.grown()
	}
}

// ownWait is how long the thread that looks waited since this was asked before, ns; 0 where the system does not tell.
func (w *threadWaits) ownWait() int64 {
	if w.me == nil {
		return 0
	}
	d, _ := w.me.grown()
	return d
}

// grown is what the thread waited since the last call; false = it has ended.
func (f *threadFile) grown() (d int64, ok bool) {
	var buf [64]byte
	n, err := f.file.ReadAt(buf[:], 0)
	if n == 0 && err != nil {
		return 0, false
	}
	wait := secondNumber(buf[:n])
	d = wait - f.last
	f.last = wait
	return d, true
}

// look tells what all threads waited together since the look before, ns.
func (w *threadWaits) look() (all int64) {
	first := w.files == nil
	if w.looks%scanEvery == 0 {
		w.scan()
	}
	w.looks++
	for id, f := range w.files {
		d, ok := f.grown()
		if !ok {
			f.file.Close()
			delete(w.files, id)
		}
		all += d
	}
	if first { // what threads waited before anybody looked
		return 0
	}
	return all
}

// scan opens the files of threads that are new.
func (w *threadWaits) scan() {
	if w.files == nil {
		w.files = map[int]*threadFile{}
	}
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil || w.files[id] != nil {
			continue
		}
		if f, err := os.Open("/proc/self/task/" + name + "/schedstat"); err == nil {
			w.files[id] = &threadFile{file: f}
		}
	}
}

// close gives the files back.
func (w *threadWaits) close() {
	for _, f := range w.files {
		f.file.Close()
	}
	w.files = map[int]*threadFile{}
	if w.me != nil {
		w.me.file.Close()
		w.me = nil
	}
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
