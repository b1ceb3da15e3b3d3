package taskgraph

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/topo"
)

// What gonum is shown is a directed graph of the unplaced part alone.
func TestKnots_IsADirectedGraph(t *testing.T) {
	tasks := []Task{{ID: "a"}, {ID: "b", After: []ID{"a", "c"}}, {ID: "c", After: []ID{"b"}}, {ID: "d", After: []ID{"c"}}}
	p := &plan{tasks: tasks, index: map[ID]int{"a": 0, "b": 1, "c": 2, "d": 3}}
	p.deps, p.next = link(p.tasks, p.index, func(id, on ID) { t.Fatal(id, on) })
	sorted, rest := order(p.deps, p.next)
	require.Equal(t, []int{0}, sorted)
	require.Equal(t, []int{1, 2, 3}, rest)
	k := newKnots(p, rest)
	ids := func(n graph.Nodes) (out []int64) {
		for n.Next() {
			out = append(out, n.Node().ID())
		}
		return out
	}
	assert.Equal(t, []int64{1, 2, 3}, ids(k.Nodes()))
	assert.Equal(t, []int64{1, 3}, ids(k.From(2)))
	assert.Equal(t, []int64{2}, ids(k.To(1)), "a is placed and not shown")
	assert.Nil(t, k.Node(0))
	assert.Equal(t, int64(3), k.Node(3).ID())
	assert.True(t, k.HasEdgeFromTo(2, 3))
	assert.False(t, k.HasEdgeFromTo(3, 2))
	assert.False(t, k.HasEdgeFromTo(0, 1))
	assert.True(t, k.HasEdgeBetween(3, 2))
	assert.Nil(t, k.Edge(3, 2))
	e := k.Edge(2, 3)
	assert.Equal(t, []int64{2, 3}, []int64{e.From().ID(), e.To().ID()})
	assert.Equal(t, int64(3), e.ReversedEdge().From().ID())
	assert.True(t, topo.PathExistsIn(k, node(1), node(3)))
	assert.Equal(t, []string{"b -> c -> b"}, cycles(p, rest))
}
