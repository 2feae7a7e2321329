package main

import (
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// servePeak serves the highest resident memory of this process. A POST resets it.
func servePeak(control *http.ServeMux) {
	control.HandleFunc("POST /peak", func(w http.ResponseWriter, _ *http.Request) {
		debug.FreeOSMemory()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	control.HandleFunc("GET /peak", func(w http.ResponseWriter, _ *http.Request) { reply(w, readStatus("VmHWM:")) })
}

// readStatus returns a number of bytes from the process status of the system, or 0 if it is missing.
func readStatus(name string) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kilobytes, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kilobytes * 1024
		}
	}
	return 0
}
