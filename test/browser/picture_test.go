package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPicture: the button of a chart puts a picture of it into the clipboard, as wide as the chart and with marks of the panel's, the text's and the
// lines' colours; where the clipboard is not allowed, it is saved as a file.
func TestPicture(t *testing.T) {
	p := open(t, "file://"+filepath.Join(work, "c6", "report.html"), 1280)
	var got struct {
		Type   string
		Wider  bool
		Colors float64
		Word   string
	}
	p.do(chromedp.Evaluate(`(async () => {
		let item;
		Object.defineProperty(navigator, "clipboard", { value: { write: async ([one]) => (item = one) } });
		const host = document.querySelector(".lane"), b = host.querySelector(".picture");
		await b.onclick();
		const blob = await item.getType("image/png"), image = await createImageBitmap(blob), c = new OffscreenCanvas(image.width, image.height), g = c.getContext("2d");
		g.drawImage(image, 0, 0);
		const pixels = new Uint32Array(g.getImageData(0, 0, image.width, image.height).data.buffer);
		return { Type: blob.type, Wider: image.width === host.uplot.ctx.canvas.width && image.height > host.uplot.ctx.canvas.height, Colors: new Set(pixels).size, Word: b.textContent };
	})()`, &got, awaited))
	if got.Type != "image/png" || !got.Wider || got.Colors < 10 || got.Word != "Copied" {
		t.Errorf("%+v", got)
	}
	var saved string
	p.do(chromedp.Evaluate(`(async () => {
		navigator.clipboard.write = async () => { throw new Error("no"); };
		let name = "";
		HTMLAnchorElement.prototype.click = function () { name = this.download + " " + this.href.slice(0, 5); };
		await document.querySelector(".lane .picture").onclick();
		return name;
	})()`, &saved, awaited))
	if saved != "Time_to_first_token.png blob:" {
		t.Errorf("%q", saved)
	}
}

// TestDrawing: the second button of a chart saves what the chart shows as an SVG file: title, axes, the marks, in the colours of the page.
func TestDrawing(t *testing.T) {
	p := open(t, "file://"+filepath.Join(work, "c6", "report.html"), 1280)
	var got struct {
		Name, Root, Fault, Size  string
		Paths, Texts             int
		Title, Mark, Rest, Nests bool
	}
	p.do(chromedp.Evaluate(`(async () => {
		let blob, name;
		URL.createObjectURL = (b) => { blob = b; return "blob:x"; };
		HTMLAnchorElement.prototype.click = function () { name = this.download; };
		const host = document.querySelector(".lane"), canvas = host.uplot.ctx.canvas;
		await host.querySelectorAll(".picture")[1].onclick();
		const doc = new DOMParser().parseFromString(await blob.text(), "image/svg+xml"), root = doc.documentElement;
		return {
			Name: name, Root: root.nodeName, Fault: doc.querySelector("parsererror")?.textContent || "", Size: root.getAttribute("width") === String(canvas.width / devicePixelRatio) ? "" : "other width",
			Paths: doc.querySelectorAll("path").length, Texts: doc.querySelectorAll("text").length, Title: doc.querySelector("title").textContent === "Time to first token",
			Mark: [...doc.querySelectorAll("path")].some((e) => [e.getAttribute("fill"), e.getAttribute("stroke")].includes(getComputedStyle(document.documentElement).getPropertyValue("--p50").trim())),
			Rest: !Object.hasOwn(host.uplot.ctx, "fillRect"), Nests: !!doc.querySelector("g[clip-path] path"),
		};
	})()`, &got, awaited))
	if got.Name != "Time_to_first_token.svg" || got.Root != "svg" || got.Fault != "" || got.Size != "" || got.Paths < 100 || got.Texts < 8 || !got.Title || !got.Mark || !got.Rest || !got.Nests {
		t.Errorf("%+v", got)
	}
}
