package spool

import (
	"strconv"
)

func plainCallKey(run RunID, step int, call ToolCallID) string {
	return string(run) + "/" + strconv.Itoa(step) + "/" + string(call)
}
