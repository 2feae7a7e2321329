package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// resultPart is a part of a tool's result, as in a message or as in the Model Context Protocol.
type resultPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Image    string `json:"image"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
}

// resultParts returns the blocks of a result with images. Such a result is a list of texts and images, or an
// object whose "content" is one, with at most "isError", "structuredContent" and "_meta" beside it. An image
// is {"type":"image","image":"<URL>"} or {"type":"image","data":"<base64>","mimeType":"image/png"}. Any
// other result goes to the model as text.
func resultParts(result json.RawMessage) (blocks []*wireBlock, failed, ok bool) {
	result = bytes.TrimSpace(result)
	if len(result) == 0 || result[0] != '[' && result[0] != '{' || !bytes.Contains(result, []byte(`"image"`)) {
		return nil, false, false
	}
	list := result
	if result[0] == '{' {
		var fields map[string]json.RawMessage
		if json.Unmarshal(result, &fields) != nil {
			return nil, false, false
		}
		list, failed = fields["content"], string(fields["isError"]) == "true"
		for _, name := range []string{"content", "isError", "structuredContent", "_meta"} {
			delete(fields, name)
		}
		if len(fields) > 0 {
			return nil, false, false
		}
	}
	blocks, ok = partBlocks(list)
	return blocks, failed, ok
}

func partBlocks(list json.RawMessage) ([]*wireBlock, bool) {
	var parts []resultPart
	if json.Unmarshal(list, &parts) != nil {
		return nil, false
	}
	var blocks []*wireBlock
	images := false
	for _, p := range parts {
		switch {
		case p.Type == typeText:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, textBlock(p.Text))
			}
			continue
		case p.Type == typeImage && p.Image != "":
			blocks = append(blocks, imageBlock(p.Image))
		case p.Type == typeImage && p.Data != "" && p.MIMEType != "":
			blocks = append(blocks, imageBlock("data:"+p.MIMEType+";base64,"+p.Data))
		default:
			return nil, false
		}
		images = true
	}
	return blocks, images
}

// show adds an image or a file to the content of a result.
func (b *wireBlock) show(p spool.Part) {
	content, _ := b.Content.([]*wireBlock)
	if text, isText := b.Content.(string); isText {
		content = []*wireBlock{textBlock(text)}
	}
	if p.Type == spool.PartImage {
		content = append(content, imageBlock(p.Image))
	} else {
		content = append(content, fileBlock(p))
	}
	b.Content = content
}
