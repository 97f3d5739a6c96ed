package mockserver

// lump makes the events that are due by the end of a lump and writes them together.
func (st *stream) lump(wait bool) {
	if st.nextMade == 0 { // the first event is due and waits for the end of its lump
		st.nextMade = st.next
		st.next = st.lumpEnd()
		return
	}
	st.due, st.buf = st.next+st.offset, st.buf[:0]
	events, tokens := 0, 0
	for !st.ended && st.nextMade <= st.next && st.events != st.script.failAfter {
		tokens += st.event()
		events++
		if st.tokensLeft+st.reasoningLeft == 0 && st.events != st.script.failAfter {
			st.end()
		}
		st.nextMade += int64(st.script.stretch(st.script.itl, st.opts.Jitter))
	}
	if events == 0 {
		st.breakOff(wait)
		return
	}
	st.send(events, tokens, wait)
	st.next = st.lumpEnd()
}

// lumpEnd returns the end of the next event's lump. Lumps are counted from the arrival of the request.
func (st *stream) lumpEnd() int64 {
	origin, lump := st.truth.Arrival-st.offset, int64(st.opts.Lump)
	return origin + max(1, (st.nextMade-origin+lump-1)/lump)*lump
}
