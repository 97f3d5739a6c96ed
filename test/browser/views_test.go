package browser

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestViews: on a phone, a laptop and a large screen, on paper, light and dark, and as people without green see it, the page of a run has its lanes and fits.
// With BROWSER_SHOTS it stores a picture of each.
func TestViews(t *testing.T) {
	p := open(t, "file://"+states(t)["explained"], 1280)
	for _, v := range []struct {
		name, theme, media string
		width, height      int64
		eye                emulation.SetEmulatedVisionDeficiencyType
	}{
		{"phone", "light", "", 390, 844, "none"}, {"laptop", "light", "", 1280, 800, "none"}, {"wide", "dark", "", 1920, 1080, "none"},
		{"print", "light", "print", 794, 1123, "none"}, {"deuteranopia", "light", "", 1280, 800, "deuteranopia"},
	} {
		p.do(emulation.SetDeviceMetricsOverride(v.width, v.height, 1, false), emulation.SetEmulatedVisionDeficiency(v.eye),
			emulation.SetEmulatedMedia().WithMedia(v.media).WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.theme}}))
		p.do(chromedp.Evaluate(`document.documentElement.dataset.theme === "`+v.theme+`" || document.querySelector("#theme").click()`, nil)) // an earlier choice counts more than the system
		p.settled()
		p.do(chromedp.Evaluate(`document.querySelector("#time").scrollIntoView({ behavior: "instant" })`, nil))
		p.settled()
		if v.media == "" {
			p.want(`document.documentElement.dataset.theme`, v.theme)
		}
		p.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
		p.want(`(() => { const u = document.querySelector(".lane").uplot, g = u.ctx.getImageData(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height).data; let n = 0; for (let i = 3; i < g.length; i += 4) n += g[i] > 0; return n > 500; })()`, "true")
		var picture []byte
		p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			picture, err = page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatPng).Do(ctx)
			return err
		}))
		if len(picture) < 10_000 {
			t.Errorf("%s: a picture of %d bytes", v.name, len(picture))
		}
		if dir := os.Getenv("BROWSER_SHOTS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "view-"+v.name+".png"), picture, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	if len(p.complain) > 0 { // Chromium itself loads the filter of colours
		t.Errorf("the page complains of %v", p.complain)
	}
}
