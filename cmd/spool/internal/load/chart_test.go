package load

import (
	"encoding/xml"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "draw docs/images/load.svg again")

// pageReport returns a report with the numbers of docs/operations/load.md.
func pageReport() *Report {
	of := func(p50, p99 float64) Latency { return Latency{Count: 1, P50: p50, P99: p99} }
	return &Report{
		Command: Command{Server: "http://127.0.0.1:8080"}, HeldPerSecond: 20,
		Saturation: "25.5 of 50 runs per second ended, less than 90 %",
		Rungs: []Rung{
			{
				OfferedPerSecond: 5, AchievedPerSecond: 4.9, Start: of(9.99, 80), FirstToken: of(141, 621),
				WholeRun: of(1264, 1368), StopToEnd: of(30.3, 67.3),
			},
			{
				OfferedPerSecond: 10, AchievedPerSecond: 9.8, Start: of(16.2, 167), FirstToken: of(144, 459),
				WholeRun: of(1234, 1582), StopToEnd: of(41.8, 122),
			},
			{
				OfferedPerSecond: 20, AchievedPerSecond: 20, Start: of(11.7, 90.2), FirstToken: of(148, 346),
				WholeRun: of(1237, 1413), StopToEnd: of(79, 436),
			},
			{
				OfferedPerSecond: 50, AchievedPerSecond: 25.5, Start: of(22.7, 191), FirstToken: of(5775, 10322),
				WholeRun: of(6562, 10912), StopToEnd: of(125, 440),
			},
		},
	}
}

// The picture of the page is what the command draws. With -update it is drawn again.
func TestPagePicture(t *testing.T) {
	t.Parallel()

	path := filepath.Join("..", "..", "..", "..", "docs", "images", "load.svg")
	if *update {
		if err := pageReport().WriteSVG(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pageReport().svg(), string(got)); diff != "" {
		t.Errorf("docs/images/load.svg differs (go test ./cmd/spool/internal/load -run TestPagePicture -update): %s", diff)
	}
}

// node is an element of a picture.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

func (n *node) attr(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (n *node) number(t *testing.T, name string) float64 {
	t.Helper()

	v, err := strconv.ParseFloat(n.attr(name), 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, n.XMLName.Local, err)
	}
	return v
}

// all calls fn with the elements of a name, in their order.
func (n *node) all(name string, fn func(n *node)) {
	if n.XMLName.Local == name {
		fn(n)
	}
	for i := range n.Nodes {
		n.Nodes[i].all(name, fn)
	}
}

// parsed returns the picture of a report, which is well-formed XML.
func parsed(t *testing.T, r *Report) *node {
	t.Helper()

	var root node
	if err := xml.Unmarshal([]byte(r.svg()), &root); err != nil {
		t.Fatalf("%v: %s", err, r.svg())
	}
	return &root
}

// axis is what a reader sees of an axis: labels, and their places.
type axis struct{ values, places []float64 }

// read returns the value at a place, between the first and the last label.
func (a axis) read(place float64) float64 {
	last := len(a.values) - 1
	share := (place - a.places[0]) / (a.places[last] - a.places[0])
	return a.values[0] * math.Pow(a.values[last]/a.values[0], share)
}

// A reader of the axes reads the report's numbers off the picture.
func TestChartShowsValues(t *testing.T) {
	t.Parallel()

	one := pageReport()
	one.Rungs = one.Rungs[1:2]
	near := pageReport()
	near.Rungs = near.Rungs[:2]
	near.Rungs[1].OfferedPerSecond, near.Rungs[1].AchievedPerSecond = 5.2, 5.2
	wide := pageReport()
	wide.Rungs[0].OfferedPerSecond, wide.Rungs[3].OfferedPerSecond, wide.Rungs[3].WholeRun.P99 = 0.01, 1000, 3.6e6
	for name, r := range map[string]*Report{"ladder": pageReport(), "one rate": one, "close rates": near, "wide": wide} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root := parsed(t, r)
			var xs, latency, rates axis
			root.all("text", func(n *node) {
				v, err := strconv.ParseFloat(n.Text, 64)
				switch y := n.number(t, "y"); {
				case err != nil:
				case strings.HasSuffix(n.attr("class"), " x"):
					xs.values, xs.places = append(xs.values, v), append(xs.places, n.number(t, "x"))
				case y < latencyFloor+tickSpace:
					latency.values, latency.places = append(latency.values, v), append(latency.places, y-4)
				default:
					rates.values, rates.places = append(rates.values, v), append(rates.places, y-4)
				}
			})
			// Both charts have the same labels below.
			xs.values, xs.places = xs.values[:len(xs.values)/2], xs.places[:len(xs.places)/2]
			for _, a := range []axis{xs, latency, rates} {
				if len(a.values) < 2 {
					t.Fatalf("an axis has the labels %v", a.values)
				}
				for i := range a.places[1:] {
					if math.Abs(a.places[i+1]-a.places[i]) < 12 {
						t.Errorf("the labels %v and %v are too close", a.values[i], a.values[i+1])
					}
				}
			}

			got := make(map[string][]float64)
			root.all("circle", func(n *node) {
				if len(n.Nodes) == 0 { // of the legend
					return
				}
				y := latency
				if n.number(t, "cy") > latencyFloor {
					y = rates
				}
				what, _, _ := strings.Cut(n.Nodes[0].Text, ",")
				got[what] = append(got[what], xs.read(n.number(t, "cx")), y.read(n.number(t, "cy")))
			})
			want := make(map[string][]float64)
			for i := range r.Rungs {
				g := &r.Rungs[i]
				for what, v := range map[string]float64{
					"start p50": g.Start.P50, "start p99": g.Start.P99, "first token p50": g.FirstToken.P50,
					"first token p99": g.FirstToken.P99, "whole run p50": g.WholeRun.P50, "whole run p99": g.WholeRun.P99,
					"stop to end p50": g.StopToEnd.P50, "stop to end p99": g.StopToEnd.P99, "offered": g.OfferedPerSecond,
					"ended": g.AchievedPerSecond,
				} {
					want[what] = append(want[what], g.OfferedPerSecond, v)
				}
			}
			// A tenth of a unit is less than a hundredth of a value.
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0.01, 0)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the texts of a report are, the picture is one of text. A report without latencies has an empty chart.
func TestChartEscapes(t *testing.T) {
	t.Parallel()

	const hostile = `http://127.0.0.1/?a=1&b=</text><script>alert("1")</script>` + "\x00]]>"
	r := &Report{Command: Command{Server: hostile}, Rungs: []Rung{{OfferedPerSecond: 3, Saturation: hostile}}}
	r.conclude()
	root := parsed(t, r)
	shown := 0
	root.all("text", func(n *node) {
		if strings.Contains(n.Text, strings.ReplaceAll(hostile, "\x00", "\uFFFD")) {
			shown++
		}
	})
	root.all("script", func(*node) { t.Error("the picture has a script") })
	if shown != 2 {
		t.Errorf("the server and the verdict are shown as they are %d times", shown)
	}
	if err := new(Report).WriteSVG(filepath.Join(t.TempDir(), "r.svg")); !errors.Is(err, ErrNoChart) {
		t.Errorf("a report without rates: %v", err)
	}
}
