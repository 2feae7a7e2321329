package attach

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
)

// chunk returns a PNG chunk that claims to have length bytes.
func chunk(kind string, data []byte, length uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, length)
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func TestPNGIsWhole(t *testing.T) {
	t.Parallel()
	whole := picture(t, "png")
	small := bomb(1, 1)
	end := chunk("IEND", nil, 0)
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"whole":             {whole, true},
		"a little after it": {append(bytes.Clone(whole), "made by a program"...), true},
		"much after it":     {append(bytes.Clone(whole), make([]byte, pngTrailer+1)...), false},
		"header alone":      {small, false},
		"junk after header": {append(bytes.Clone(small), bytes.Repeat([]byte("junk"), 1000)...), false},
		"no pixels":         {append(bytes.Clone(small), end...), false},
		"cut off":           {whole[:len(whole)-1], false},
		"chunk that is said to be larger": {
			append(append(bytes.Clone(small), chunk("IDAT", []byte("x"), 1<<31)...), end...), false,
		},
		"wrong checksum": {bytes.Replace(bytes.Clone(whole), []byte("IDAT"), []byte("IDAt"), 1), false},
	} {
		if got := wholePNG(c.data); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		_, err := testAttachments(t, option.Attachments{}).inspect(c.data, "image/png")
		if (err == nil) != c.want || err != nil && spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Checking an image does not allocate what its header claims to need.
func TestImageHeadersTakeLittleMemory(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	a := testAttachments(t, option.Attachments{})
	large := func(head string) []byte { return append([]byte(head), bytes.Repeat([]byte{0xff}, 4<<20)...) }
	for name, data := range map[string][]byte{
		"png": large(string(bomb(1<<30, 1<<30))),
		"png palette": large(pngSignature +
			string(chunk("IHDR", []byte("\x00\x00\x01\x00\x00\x00\x01\x00\x08\x03\x00\x00\x00"), 13))),
		"png metadata": large(pngSignature + string(chunk("tEXt", []byte("x"), 1<<31-1))),
		"gif":          large("GIF89a\xff\xff\xff\xff\xf7\x00\x00"),
		"jpeg":         large("\xff\xd8\xff\xc0\xff\xff\x08\xff\xff\xff\xff\x03"),
		"jpeg tables":  large("\xff\xd8\xff\xdb\xff\xff"),
		"webp":         large("RIFF\xff\xff\xff\x7fWEBPVP8L"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := a.inspect(data, "")
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 128<<10 {
			t.Errorf("%s takes %d bytes (%v)", name, took, err)
		}
	}
}
