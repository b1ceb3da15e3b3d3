package canon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Parse reads exactly one JSON value, strictly: nothing after it, no object with two equal keys, no nesting above 200
// levels. Numbers stay json.Number, so no digit is lost.
func Parse(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d, 0)
	if err != nil {
		return nil, fmt.Errorf("canon: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("canon: something follows the value")
	}
	return v, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	tok, err := d.Token()
	if err != nil {
		return nil, unexpected(err)
	}
	switch tok {
	case json.Delim('{'):
		return parseMap(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, unexpected(err)
	}
	return tok, nil
}

func parseMap(d *json.Decoder, depth int) (any, error) {
	m := map[string]any{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, unexpected(err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("%v is no key", tok)
		}
		if _, twice := m[key]; twice {
			return nil, fmt.Errorf("two keys are %q", key)
		}
		if m[key], err = parseValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return m, unexpected(err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
