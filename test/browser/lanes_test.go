package browser

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// over moves the pointer to a place in the lane of a title, in shares of its panel.
func (p *tab) over(title string, x, y float64) {
	p.t.Helper()
	lane := `[...document.querySelectorAll(".lane")].find((e) => e.querySelector("figcaption").textContent === ` + strconv.Quote(title) + `)`
	var at struct{ X, Y, W, H float64 }
	p.do(chromedp.Evaluate(`(() => { const e = `+lane+`; e.scrollIntoView({ block: "center", behavior: "instant" }); const b = e.querySelector(".u-over").getBoundingClientRect(); return { x: b.left, y: b.top, w: b.width, h: b.height }; })()`, &at))
	p.settled()
	for _, shift := range []float64{3, 0} { // a pointer that arrives moves
		p.do(input.DispatchMouseEvent(input.MouseMoved, at.X+x*at.W+shift, at.Y+y*at.H))
		p.settled()
	}
}

// tips is the text of the tooltips that are there.
const tips = `[...document.querySelectorAll(".tip")].filter((e) => !e.hidden).map((e) => e.textContent).join("|")`

// TestTooltip: the tooltip of a lane has every series of all lanes at that instant with its unit, there is only one, and it stays in the window.
func TestTooltip(t *testing.T) {
	p := open(t, "file://"+states(t)["explained"], 1280)
	for _, width := range []int64{1280, 390} {
		p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, false))
		p.settled()
		p.over("Time to first token", 0.5, 0.5)
		for _, text := range []string{"Time to first token", "p50 ", " ms", "Output", " tokens/s", "Requests in flight", " requests", "Requests sent", " requests/s"} {
			p.want(tips, text)
		}
		if got := p.text(tips); strings.Contains(got, "|") {
			t.Errorf("several tooltips: %s", got)
		}
		p.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
	}
	p.do(emulation.SetDeviceMetricsOverride(1280, 900, 1, false))
	found := false
	for i := 1; i < 20 && !found; i++ {
		p.over("Request latency, heat map", 0.5, float64(i)/20)
		found = strings.Contains(p.text(tips), "requests · ") && strings.Contains(p.text(tips), " of ")
	}
	if !found {
		t.Errorf("no cell of the heat map has a tooltip; the last says %s", p.text(tips))
	}
	p.do(input.DispatchMouseEvent(input.MouseMoved, 5, 5))
	p.settled()
	if got := p.text(tips); got != "" {
		t.Errorf("the tooltip stays: %s", got)
	}
	p.alone()
}

// TestMessages: a chosen request shows a tick for each of its messages.
func TestMessages(t *testing.T) {
	p := open(t, file("c6", "report.html"), 1280)
	ticks := `document.querySelector("#detail .messages path")?.getAttribute("d").split("M").length - 1`
	p.do(chromedp.Focus("#waterfall", chromedp.ByQuery))
	for range 10 { // some of the requests fail
		p.do(chromedp.KeyEvent(kb.ArrowRight))
		if strings.Contains(p.text(`document.querySelector("#detail").textContent`), "longest gap") {
			break
		}
	}
	p.want(`document.querySelector("#detail .messages").textContent`, "messages of the answer16; longest gap ")
	p.want(ticks, "16")
	p.alone()
}

// TestLink: the address of the page holds the zoom, the filter and the chosen request, and opens the same view.
func TestLink(t *testing.T) {
	p := open(t, file("c6", "report.html"), 1280)
	p.click(`[data-clock="in"]`)
	p.do(chromedp.Evaluate(`(() => { const f = document.querySelector("#filter"); f.value = "failed"; f.onchange(); })()`, nil))
	p.do(chromedp.Focus("#waterfall", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	p.comes(`["time=", "requests=failed", "request="].every((s) => location.hash.includes(s))`)
	state := `[document.querySelector(".view").textContent, document.querySelector("#filter").value, document.querySelector("#detail p").textContent, document.querySelector("#shown").textContent].join("|")`
	p.settled()
	want, address := p.text(state), p.text(`location.href`)
	other := open(t, address, 1280)
	if got := other.text(state); got != want || !strings.Contains(got, " to ") || !strings.Contains(got, "started at") {
		t.Errorf("the link shows %q, want %q", got, want)
	}
	other.click(`[data-clock="all"]`)
	other.comes(`!location.hash.includes("time=")`)
	other.want(`document.querySelector("#filter").value`, "failed")
	other.alone()
}

// broken lists the words of a page that continue on another line.
const broken = `(() => {
	const list = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	for (let n; (n = walk.nextNode()); ) {
		const host = n.parentElement;
		if (host.closest("script, style, noscript, pre, [hidden]") || !host.checkVisibility()) continue;
		for (const word of n.data.matchAll(/(?<=^|[\s(])[A-Za-z]{2,24}(?=[\s).,:;]|$)/g)) {
			range.setStart(n, word.index);
			range.setEnd(n, word.index + word[0].length);
			const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
			if (lines.size > 1) list.push(word[0]);
		}
	}
	return JSON.stringify([...new Set(list)]);
})()`

// TestUnbrokenWords: no page breaks a word across lines, on a phone or a laptop.
func TestUnbrokenWords(t *testing.T) {
	t.Parallel()
	all := maps.Clone(states(t))
	maps.Copy(all, pages(t))
	delete(all, "hostile") // its name of 80 letters is wider than a phone
	for name, path := range all {
		p := openAny(t, "file://"+path, 360)
		for _, width := range []int64{360, 768, 1280} {
			p.do(emulation.SetDeviceMetricsOverride(width, 900, 1, false))
			p.settled()
			var words []string
			if err := json.Unmarshal([]byte(p.text(broken)), &words); err != nil {
				t.Fatal(err)
			}
			if len(words) > 0 {
				t.Errorf("%s at %d px breaks %q", name, width, words)
			}
		}
	}
}
