package dashboard

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

// Pauses between two states: the normal one, and the longest for a slow line.
const (
	tick     = 250 * time.Millisecond
	tickMost = time.Second
)

// noticeTime is how long the reply to a key is shown.
const noticeTime = 3 * time.Second

// webTime is how long the address of the live page is shown at the beginning.
const webTime = 15 * time.Second

// webNotice comes before the address of the live page.
const webNotice = "live page (w copies this): "

// doubleClick is the longest time between the two clicks.
const doubleClick = 400 * time.Millisecond

// tickMsg requests the next state.
type tickMsg time.Time

// model holds what the terminal shows, and what keys and mouse change.
type model struct {
	options *Options
	keeper  *keeper
	slow    func() bool
	behind  func() bool // the terminal has not read the frames before
	shown   tea.View    // the last frame that was meant for it
	every   time.Duration
	view    liveview.View
	state   liveview.State
	rows    termdraw.Rows
	noticed time.Time
	clicked time.Time
	row     int
	profile colorprofile.Profile // colours that the terminal supports
	light   bool                 // it has a light background
	onLight *termdraw.Paint
}

// Init implements tea.Model. The view covers the line with the address of the live page, so it begins with that address.
func (m *model) Init() tea.Cmd {
	if m.options.Web != "" {
		m.notice(webNotice + m.options.Web)
		m.noticed = m.noticed.Add(webTime - noticeTime)
	}
	if !m.options.Paint.Colour {
		return m.next()
	}
	return tea.Batch(m.next(), tea.RequestBackgroundColor)
}

func (m *model) next() tea.Cmd {
	return tea.Tick(m.every, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch v := msg.(type) {
	case tea.WindowSizeMsg:
		m.view.Width, m.view.Height = v.Width, v.Height
		m.fill()
	case tickMsg:
		m.pace()
		m.fill()
		return m, m.next()
	case tea.ColorProfileMsg:
		m.profile = v.Profile
	case tea.BackgroundColorMsg: // terminals that do not answer keep their own colours
		m.light = !v.IsDark()
	case tea.ResumeMsg:
		m.keeper.say(wordShown)
	case tea.KeyPressMsg:
		cmd = m.key(v.String())
		m.fill()
	case tea.MouseClickMsg:
		m.click(v)
	case tea.MouseWheelMsg:
		switch v.Button {
		case tea.MouseWheelUp:
			m.scroll(-3)
		case tea.MouseWheelDown:
			m.scroll(3)
		}
	}
	m.draw()
	return m, cmd
}

// pace requests states less often if the line is slow.
func (m *model) pace() {
	if m.slow() {
		m.every = min(2*m.every, tickMost)
	} else {
		m.every = max(m.every/2, tick)
	}
}

func (m *model) fill() {
	m.view.Follows, m.view.Web = m.options.Follows, m.options.Web != ""
	m.options.Fill(m.view, &m.state)
	if m.view.Notice != "" && time.Since(m.noticed) > noticeTime {
		m.view.Notice = ""
	}
	m.draw()
}

func (m *model) draw() { m.rows = liveview.Frame(&m.state, m.view) }

// key handles a key and returns a command for the terminal.
func (m *model) key(name string) tea.Cmd {
	v := &m.view
	if v.Asks {
		v.Asks = false
		if name == "y" || name == "Y" || name == "ctrl+c" {
			m.options.Interrupt()
		}
		return nil
	}
	switch name {
	case "ctrl+c":
		m.options.Interrupt()
	case "q":
		v.Asks = true
	case "?":
		v.Help = !v.Help
	case "1", "esc":
		v.Panel, v.Help, v.HideLog, v.Scroll = liveview.Overview, false, false, 0
	case "2", "3", "4", "5", "6":
		m.maximise(liveview.Panel(name[0] - '1'))
	case "l":
		v.HideLog = !v.HideLog
	case "up", "k":
		m.scroll(-1)
	case "down", "j":
		m.scroll(1)
	case "pgup":
		m.scroll(-(v.Height - 6))
	case "pgdown", "space":
		m.scroll(v.Height - 6)
	case "c":
		text := m.options.Copy()
		return m.copy(text, fmt.Sprintf("copied %s characters of the log to the clipboard (OSC 52; tmux: set-clipboard on)", terminal.Figure(float64(len([]rune(text))))))
	case "w":
		if m.options.Web != "" {
			return m.copy(m.options.Web, webNotice+m.options.Web)
		}
	case "ctrl+s":
		m.save()
	case "ctrl+z":
		m.keeper.say(wordAside)
		return tea.Suspend
	}
	return nil
}

// copy writes a text to the clipboard of the terminal, unless it has not even read the frame before.
func (m *model) copy(text, notice string) tea.Cmd {
	if m.behind() {
		return nil
	}
	m.notice(notice)
	return tea.SetClipboard(text)
}

// maximise shows a panel on the whole screen, or restores the overview.
func (m *model) maximise(p liveview.Panel) {
	v := &m.view
	v.Help, v.Scroll = false, 0
	if v.Panel == p {
		p = liveview.Overview
	}
	v.Panel = p
}

func (m *model) scroll(by int) {
	if m.view.Panel == liveview.Log { // the log starts at its newest line
		by = -by
	}
	m.view.Scroll = min(max(0, m.view.Scroll+by), m.maxScroll())
}

// maxScroll returns how far the panel can be scrolled.
func (m *model) maxScroll() int { return liveview.Scrollable(&m.state, m.view) }

func (m *model) notice(text string) { m.view.Notice, m.noticed = text, time.Now() }

// save stores the screen as text and as an image.
func (m *model) save() {
	if m.options.Save == nil {
		m.notice("this screen cannot be saved: there is no artifact directory yet")
		return
	}
	name := "screen-" + time.Now().Format("150405")
	text := m.rows.String(termdraw.NewPaint(false, false, m.options.Paint.ASCII))
	path, err := m.options.Save(name+".txt", []byte(text))
	if err == nil {
		_, err = m.options.Save(name+".svg", m.rows.SVG(m.view.Width, "aiperf: "+m.state.Plan.Words()))
	}
	if err != nil {
		m.notice("this screen was not saved: " + terminal.Line(err.Error()))
		return
	}
	m.notice("saved " + path + " and .svg")
}

// click maximises the panel under a double click, or restores the overview.
func (m *model) click(c tea.MouseClickMsg) {
	if c.Button != tea.MouseLeft {
		return
	}
	now := time.Now()
	if c.Y == m.row && now.Sub(m.clicked) < doubleClick {
		m.clicked = time.Time{}
		if m.view.Panel != liveview.Overview {
			m.maximise(m.view.Panel)
			return
		}
		m.maximise(liveview.PanelAt(m.rows, c.Y))
		return
	}
	m.clicked, m.row = now, c.Y
}

// View implements tea.Model. For a terminal that does not read it returns the frame before, so that nothing is written until it has read that one.
func (m *model) View() tea.View {
	if !m.behind() {
		m.shown = m.frame()
	}
	return m.shown
}

// frame returns the present frame.
func (m *model) frame() tea.View {
	paint := m.options.Paint
	if m.light && m.profile >= colorprofile.ANSI256 && paint.Colour {
		paint = m.onLight
	}
	v := tea.NewView(strings.TrimSuffix(m.rows.String(paint), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	return v
}
