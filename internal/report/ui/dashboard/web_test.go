package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

// TestWebAddress: the view begins with the address of the live page, which it covers; later the key w shows it again. Without a page the key does
// nothing.
func TestWebAddress(t *testing.T) {
	plain := termdraw.NewPaint(false, false, false)
	shown := func(web string) *model {
		m := &model{options: &Options{Terminal: Terminal{Paint: plain}, Fill: func(liveview.View, *liveview.State) {}, Web: web}, behind: func() bool { return false }, view: liveview.View{Width: 120, Height: 30}}
		m.Init()
		m.fill()
		return m
	}
	const web = "http://127.0.0.1:8090/?token=T"
	m := shown(web)
	if text := m.rows.String(plain); !strings.Contains(text, web) {
		t.Errorf("the first frame has no address: %s", text)
	}
	m.noticed = time.Now().Add(-2 * noticeTime)
	if m.fill(); strings.Contains(m.rows.String(plain), web) {
		t.Error("the address stays")
	}
	m.Update(tea.KeyPressMsg{Code: 'w', Text: "w"})
	if !strings.Contains(m.rows.String(plain), web) {
		t.Error("w does not show the address")
	}
	m.view.Help = true
	if m.fill(); !strings.Contains(m.rows.String(plain), "address of the live page") {
		t.Error("the help has no w")
	}
	m = shown("")
	m.Update(tea.KeyPressMsg{Code: 'w', Text: "w"})
	m.view.Help = true
	if m.fill(); strings.Contains(m.rows.String(plain), "live page") {
		t.Error("without a page the view speaks of one")
	}
}

// TestBehind: a terminal that has not read the frame before gets no other one, and no text for the clipboard. Keys work.
func TestBehind(t *testing.T) {
	behind, interrupted := false, 0
	m := &model{
		options: &Options{
			Terminal: Terminal{Paint: termdraw.NewPaint(false, false, false)}, Fill: func(liveview.View, *liveview.State) {},
			Copy: func() string { return "log" }, Interrupt: func() { interrupted++ },
		},
		behind: func() bool { return behind }, view: liveview.View{Width: 120, Height: 30},
	}
	m.fill()
	first := m.View()
	behind = true
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'c', Text: "c"}); cmd != nil {
		t.Error("the log is written to the terminal")
	}
	m.Update(tea.KeyPressMsg{Code: '?', Text: "?"})
	m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if m.View().Content != first.Content || interrupted != 1 {
		t.Errorf("another frame: %t, %d interrupts", m.View().Content != first.Content, interrupted)
	}
	behind = false
	if m.View().Content == first.Content {
		t.Error("a terminal that reads again gets the old frame")
	}
}
