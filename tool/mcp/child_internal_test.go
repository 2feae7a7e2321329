package mcp

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A line that is too large becomes an error of its request, wherever the id stands, and the lines around it stay.
func TestBoundedLines(t *testing.T) {
	t.Parallel()

	const most = 100
	long := strings.Repeat("a", 5000)
	refused := func(id string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-39001,"message":"the answer is too large"}}`+"\n", id)
	}
	for name, c := range map[string]struct{ line, want string }{
		"first":        {`{"jsonrpc":"2.0","id":7,"result":{"a":"` + long + `"}}`, refused("7")},
		"last":         {`{"result":{"id":3,"a":"` + long + `"},"jsonrpc":"2.0","id": 8 }`, refused("8")},
		"text":         {`{"result":["` + long + `",{"id":1}],"id":"a,\"}b"}`, refused(`"a,\"}b"`)},
		"in a text":    {`{"result":"\",\"id\":1,` + long + `","id":9}`, refused("9")},
		"no id":        {`{"result":"` + long + `"}`, ""},
		"notification": {`{"method":"a","params":"` + long + `"}`, ""},
		"request":      {`{"id":3,"method":"a","params":"` + long + `"}`, ""},
		"no JSON":      {long, ""},
		"bad id":       {`{"id":3x,"result":"` + long + `"}`, ""},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			source := "{\"before\":1}\n" + c.line + end + "{\"after\":1}\n"
			got, err := io.ReadAll(&boundedLines{
				lines: bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(source)), 16), most: most,
			})
			if want := "{\"before\":1}\n" + c.want + "{\"after\":1}\n"; err != nil || string(got) != want {
				t.Errorf("%s: got %s, %v", name, got, err)
			}
		}
	}
	got, err := io.ReadAll(&boundedLines{
		lines: bufio.NewReader(strings.NewReader("{\"id\":1,\"result\":\"" + long)), most: most,
	})
	if err != nil || len(got) > 0 {
		t.Errorf("without an end: %s, %v", got, err)
	}
}
