package windows

// access is what an object is opened with. Sharing keeps others from doing what must not happen meanwhile.
type access struct{ Want, Share uint32 }

const (
	shareRead   uint32 = 1
	shareWrite  uint32 = 2
	shareDelete uint32 = 4
	shareAll           = shareRead | shareWrite | shareDelete
)

// accesses by purpose. Nothing is opened for more than its purpose needs: what asks for content at all collides with those
// who share none.
var accesses = map[purpose]access{
	toLook:   {maskReadControl | fileReadAttr | maskSynchronize, shareAll},
	toChange: {maskReadControl | maskWriteDAC | fileReadAttr | maskSynchronize, shareAll},
	toWalk:   {maskReadControl | maskWriteDAC | fileReadAttr | fileReadData | maskSynchronize, shareAll},
	toHold:   {fileReadData | fileReadAttr | maskSynchronize, shareRead | shareWrite},
	toRead:   {fileReadData | fileReadAttr | maskSynchronize, shareRead},
	toDelete: {maskDelete | fileReadData | fileReadAttr | fileWriteAttr | maskSynchronize, shareAll},
}
