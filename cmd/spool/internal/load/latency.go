package load

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The range and the precision of the histograms: microseconds up to an hour, three digits.
const (
	longest   = time.Hour
	precision = 3
)

// histogram counts latencies. It is safe for concurrent use.
type histogram struct {
	mu sync.Mutex
	h  *hdrhistogram.Histogram
}

func newHistogram() *histogram {
	return &histogram{h: hdrhistogram.New(1, longest.Microseconds(), precision)}
}

// record adds a latency. One that is out of range counts as the nearest one in it.
func (h *histogram) record(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.h.RecordValue(min(max(d, time.Microsecond), longest).Microseconds()) // in the range
}

// Latency is the distribution of a latency, in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
	// Histogram is the HDR histogram in its V2 format, compressed and in base64. It counts microseconds.
	Histogram string `json:"histogram,omitempty"`
}

// latency returns the distribution so far.
func (h *histogram) latency() (Latency, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.h.TotalCount() == 0 {
		return Latency{}, nil
	}
	text, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	at := func(percentile float64) float64 { return float64(h.h.ValueAtPercentile(percentile)) / 1e3 }
	return Latency{
		Count: h.h.TotalCount(), Mean: h.h.Mean() / 1e3, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9),
		Max: float64(h.h.Max()) / 1e3, Histogram: string(text),
	}, err
}

// quick returns the tenth percentile: the latency of what need not wait.
func (h *histogram) quick() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Duration(h.h.ValueAtPercentile(10)) * time.Microsecond
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
