package media

import (
	"context"
	"io"
)

// macroblock is the side length of the squares that H.264 frames consist of, in pixels.
const macroblock = 16

// uncompressed encodes a video without any program: H.264 with uncompressed macroblocks (I_PCM), which every decoder reads, in an MP4 file. It is as
// large as the raw frames in yuv420p.
func (l *videoDraws) uncompressed(_ context.Context, frames func(io.Writer) error, _ []byte) ([]byte, error) {
	c := &pcmCoder{width: l.Width, height: l.Height}
	if err := frames(c); err != nil {
		return nil, err
	}
	right, bottom := c.cropped()
	shown := clip{sps: c.sps(l.FPS), pps: c.pps(), width: c.columns()*macroblock - right, height: c.rows()*macroblock - bottom, fps: l.FPS, samples: c.samples}
	return shown.mp4()
}

// pcmCoder encodes the RGB frames that are written to it (ITU-T H.264, baseline profile).
type pcmCoder struct {
	width, height int
	samples       [][]byte
}

func (c *pcmCoder) columns() int { return (c.width + macroblock - 1) / macroblock }
func (c *pcmCoder) rows() int    { return (c.height + macroblock - 1) / macroblock }

// cropped returns how many pixels are cropped from whole macroblocks. They are even numbers.
func (c *pcmCoder) cropped() (right, bottom int) {
	return (c.columns()*macroblock - c.width) &^ 1, (c.rows()*macroblock - c.height) &^ 1
}

// sps returns the sequence parameter set (7.3.2.1). It crops the whole macroblocks to the size of the frame.
func (c *pcmCoder) sps(fps int) []byte {
	w := &bitWriter{}
	w.put(66, 8)   // baseline
	w.put(0xc0, 8) // constrained
	w.put(uint64(c.level(fps)), 8)
	w.golomb(0) // id of the set
	w.golomb(0) // frame numbers have 4 bits
	w.golomb(2) // output order is coding order
	w.golomb(0) // reference frames
	w.put(0, 1)
	w.golomb(uint64(c.columns() - 1))
	w.golomb(uint64(c.rows() - 1))
	w.put(1, 1) // no fields
	w.put(0, 1)
	right, bottom := c.cropped()
	if c.columns()*macroblock == c.width && c.rows()*macroblock == c.height {
		w.put(0, 1)
	} else {
		w.put(1, 1)
		for _, crop := range []int{0, right / 2, 0, bottom / 2} { // in units of two pixels
			w.golomb(uint64(crop))
		}
	}
	w.put(0, 1) // no VUI
	return nal(0x67, w)
}

// levels are the maximum frame size in macroblocks and the maximum macroblocks per second of table A-1. level is the level times ten.
var levels = []struct{ level, frame, second int }{
	{30, 1620, 40500}, {31, 3600, 108000}, {40, 8192, 245760}, {42, 8704, 522240}, {50, 22080, 589824}, {51, 36864, 983040}, {52, 36864, 2073600}, {62, 139264, 16711680},
}

func (c *pcmCoder) level(fps int) int {
	frame := c.columns() * c.rows()
	for _, l := range levels {
		if frame <= l.frame && frame*fps <= l.second {
			return l.level
		}
	}
	return levels[len(levels)-1].level
}

// pps returns the picture parameter set (7.3.2.2).
func (c *pcmCoder) pps() []byte {
	w := &bitWriter{}
	w.golomb(0) // id of the set
	w.golomb(0) // id of the sequence parameter set
	w.put(0, 2) // CAVLC
	w.golomb(0) // slice groups
	w.golomb(0)
	w.golomb(0)
	w.put(0, 3) // no weights
	w.golomb(0) // quantisers: signed zeros
	w.golomb(0)
	w.golomb(0)
	w.put(1, 1) // slices set the deblocking
	w.put(0, 2)
	return nal(0x68, w)
}

// Write encodes one RGB frame as one IDR picture with one slice.
func (c *pcmCoder) Write(frame []byte) (int, error) {
	y, cb, cr := c.planes(frame)
	w := &bitWriter{}
	w.golomb(0)                          // first macroblock
	w.golomb(7)                          // I slices only
	w.golomb(0)                          // id of the picture parameter set
	w.put(0, 4)                          // frame number
	w.golomb(uint64(len(c.samples) % 2)) // consecutive IDR pictures must have different ids
	w.put(0, 2)                          // reference marking
	w.golomb(0)                          // quantiser
	w.golomb(1)                          // no deblocking
	stride := c.columns() * macroblock
	for my := range c.rows() {
		for mx := range c.columns() {
			w.golomb(25) // I_PCM
			w.align()
			for r := range macroblock {
				at := (my*macroblock+r)*stride + mx*macroblock
				w.out = append(w.out, y[at:at+macroblock]...)
			}
			for _, plane := range [][]byte{cb, cr} {
				for r := range macroblock / 2 {
					at := (my*macroblock/2+r)*stride/2 + mx*macroblock/2
					w.out = append(w.out, plane[at:at+macroblock/2]...)
				}
			}
		}
	}
	unit := nal(0x65, w)
	n := len(unit)
	c.samples = append(c.samples, append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, unit...))
	return len(frame), nil
}

// planes converts RGB to yuv420p in whole macroblocks (ITU-R BT.601, limited range). It repeats the last pixels beyond the edges.
func (c *pcmCoder) planes(frame []byte) (y, cb, cr []byte) {
	width, height := c.columns()*macroblock, c.rows()*macroblock
	y, cb, cr = make([]byte, width*height), make([]byte, width*height/4), make([]byte, width*height/4)
	pixel := func(px, py int) (r, g, b int) {
		p := frame[3*(min(py, c.height-1)*c.width+min(px, c.width-1)):]
		return int(p[0]), int(p[1]), int(p[2])
	}
	for py := range height {
		for px := range width {
			r, g, b := pixel(px, py)
			y[py*width+px] = byte(16 + (66*r+129*g+25*b+128)>>8)
		}
	}
	for py := range height / 2 {
		for px := range width / 2 {
			r, g, b := 0, 0, 0
			for i := range 4 {
				pr, pg, pb := pixel(2*px+i%2, 2*py+i/2)
				r, g, b = r+pr, g+pg, b+pb
			}
			cb[py*width/2+px] = byte(128 + (-38*r-74*g+112*b+512)>>10)
			cr[py*width/2+px] = byte(128 + (112*r-94*g-18*b+512)>>10)
		}
	}
	return y, cb, cr
}

// nal returns a NAL unit. It inserts emulation prevention bytes, so that no three bytes look like the start of another unit (7.4.1.1).
func nal(head byte, w *bitWriter) []byte {
	w.put(1, 1)
	w.align()
	out := append(make([]byte, 0, len(w.out)+len(w.out)/64+8), head)
	zeros := 0
	for _, b := range w.out {
		if zeros >= 2 && b <= 3 {
			out = append(out, 3)
			zeros = 0
		}
		out = append(out, b)
		if zeros++; b != 0 {
			zeros = 0
		}
	}
	return out
}
