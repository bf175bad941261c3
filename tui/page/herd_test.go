package page_test

import (
	"strings"
	"testing"
	"time"

	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
)

// The letters beside the raster are explained at every size that shows both.
func TestRasterExplainsItsLetters(t *testing.T) {
	p := page.Pages()[1]
	for _, size := range sizes[:4] {
		w, h := size.w, size.h-3
		v := viewFor(p, w, h, pagetest.Gateway(), 14*time.Second, false)
		got := frame(plain, w, h, p, v)
		for _, want := range []string{"c closed", "O open", "e eligible", "h half-open", "· first tries", "▓ 1/2"} {
			if !strings.Contains(got, want) {
				t.Errorf("%dx%d: no %q in\n%s", size.w, size.h, want, got)
			}
		}
	}
}
