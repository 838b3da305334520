/* PLA and MLA of a whole batch in one call; align.py says what they are, and does the same without this file.

   For every image: list its labels, check the steps that can hold one, pin what the model predicted rightly (PLA),
   and give the remaining labels to the remaining steps at the least cost. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "wide_vectors.h"

#define IGNORE -100
#define BLOCK 64
#define INFINITE 0x7f800000 /* the bits of +inf */

typedef struct { /* room for the largest image of the batch: s labels */
    double *cost;  /* [s, s] of a free label at a free step */
    double *row_price, *column_price, *slack;  /* [s + 1] each */
    Py_ssize_t *row_of, *way;  /* [s + 1] each */
    Py_ssize_t *names, *free_names, *free_steps;  /* [s] each */
    char *visited, *pinned;  /* [s + 1] each */
} Scratch;

/* The first largest of a row of logits, or -1 if one of them is NaN or +inf. As whole numbers, floats of one sign keep
   their order, and NaN lies beyond the infinities; without floats the compiler may use vectors. */
WIDE_VECTORS static Py_ssize_t argmax(const float *row, Py_ssize_t size)
{
    int32_t most = INT32_MIN, least = INT32_MAX, bits;
    Py_ssize_t i, j;
    float top;
    for (i = 0; i < size; i++) {
        memcpy(&bits, row + i, sizeof bits);
        bits = bits < 0 ? bits ^ INT32_MAX : bits; /* negative ones the other way round */
        most = bits > most ? bits : most;
        least = bits < least ? bits : least;
    }
    if (most >= INFINITE || least < (-INFINITE - 1)) return -1;
    bits = most < 0 ? most ^ INT32_MAX : most;
    memcpy(&top, &bits, sizeof top);
    for (i = 0; i + BLOCK <= size; i += BLOCK) { /* pass over blocks that do not hold it */
        int32_t found = 0;
        for (j = 0; j < BLOCK; j++) found += row[i + j] == top;
        if (found) break;
    }
    while (row[i] != top) i++;
    return i;
}

/* The least-cost assignment of n columns to n rows by shortest augmenting paths; row_of[j + 1] - 1 is column j's row.
   Index 0 is a row and column that do not exist: the one from which every path starts. */
static void solve(const double *cost, Py_ssize_t n, Scratch *s)
{
    Py_ssize_t row, j;
    for (j = 0; j <= n; j++) s->row_price[j] = s->column_price[j] = 0.0, s->row_of[j] = 0;
    for (row = 1; row <= n; row++) {
        Py_ssize_t column = 0;
        s->row_of[0] = row;
        for (j = 0; j <= n; j++) s->slack[j] = DBL_MAX, s->visited[j] = 0;
        do { /* to the nearest column that no row has */
            const double *costs = cost + (s->row_of[column] - 1) * n;
            double price = s->row_price[s->row_of[column]], nearest = DBL_MAX;
            Py_ssize_t next = 0;
            s->visited[column] = 1;
            for (j = 1; j <= n; j++) {
                if (s->visited[j]) continue;
                double reduced = costs[j - 1] - price - s->column_price[j];
                if (reduced < s->slack[j]) s->slack[j] = reduced, s->way[j] = column;
                if (s->slack[j] < nearest) nearest = s->slack[j], next = j;
            }
            for (j = 0; j <= n; j++) {
                if (s->visited[j]) s->row_price[s->row_of[j]] += nearest, s->column_price[j] -= nearest;
                else s->slack[j] -= nearest;
            }
            column = next;
        } while (s->row_of[column]);
        for (; column; column = s->way[column]) s->row_of[column] = s->row_of[s->way[column]];
    }
}

/* One image: logits [steps, m + 1], labels [m], targets [steps]. 0 if it cannot be aligned. */
static int align_image(const float *logits, const char *labels, int64_t *targets, Py_ssize_t steps, Py_ssize_t m,
                       int pin, Scratch *s)
{
    Py_ssize_t n = 0, n_free = 0, n_open = 0, step, k;
    const char *label = labels, *end = labels + m;
    for (step = 0; step < steps; step++) targets[step] = IGNORE;
    while (label < end && (label = memchr(label, 1, (size_t)(end - label)))) {
        if (n + 1 >= steps) return 0; /* the last step can hold only the end token */
        s->names[n++] = label++ - labels;
    }
    if (steps < 1) return 0;
    targets[n] = m; /* the end token */
    memset(s->pinned, 0, (size_t)n);
    for (step = 0; step < n; step++) {
        const float *row = logits + step * (m + 1);
        Py_ssize_t choice = argmax(row, m + 1);
        if (choice < 0) return 0;
        for (k = 0; k < n; k++)
            if (!(row[s->names[k]] >= -FLT_MAX)) return 0;
        for (k = 0; pin && k < n; k++)
            if (s->names[k] == choice && !s->pinned[k]) s->pinned[k] = 1, targets[step] = choice;
        if (targets[step] == IGNORE) s->free_steps[n_open++] = step;
    }
    for (k = 0; k < n; k++)
        if (!s->pinned[k]) s->free_names[n_free++] = s->names[k];
    /* -log P but for a term that depends on the step alone: it adds the same to every assignment. */
    for (step = 0; step < n_open; step++)
        for (k = 0; k < n_free; k++)
            s->cost[step * n_free + k] = -(double)logits[s->free_steps[step] * (m + 1) + s->free_names[k]];
    solve(s->cost, n_free, s);
    for (k = 0; k < n_free; k++) targets[s->free_steps[s->row_of[k + 1] - 1]] = s->free_names[k];
    return 1;
}

static int make_scratch(Scratch *s, Py_ssize_t size)
{
    size_t n = (size_t)size + 1;
    memset(s, 0, sizeof *s);
    s->cost = PyMem_Calloc(n * n + 3 * n, sizeof(double));
    s->row_of = PyMem_Calloc(5 * n, sizeof(Py_ssize_t));
    s->visited = PyMem_Calloc(2 * n, 1);
    if (!s->cost || !s->row_of || !s->visited) return 0;
    s->row_price = s->cost + n * n, s->column_price = s->row_price + n, s->slack = s->column_price + n;
    s->way = s->row_of + n, s->names = s->way + n, s->free_names = s->names + n, s->free_steps = s->free_names + n;
    s->pinned = s->visited + n;
    return 1;
}

PyDoc_STRVAR(align_doc, "align(logits, labels, targets, batch, steps, m, pin) -> int\n\n\
Fill targets [batch, steps] int64 from logits [batch, steps, m + 1] float32 and labels [batch, m] bool: the addresses\n\
of contiguous memory. Returns the first image that cannot be aligned (too many labels, or logits that are not\n\
finite), or -1.");

static PyObject *align(PyObject *Py_UNUSED(self), PyObject *args)
{
    unsigned long long logits_at, labels_at, targets_at;
    Py_ssize_t batch, steps, m, i;
    int pin;
    Scratch scratch;
    if (!PyArg_ParseTuple(args, "KKKnnnp", &logits_at, &labels_at, &targets_at, &batch, &steps, &m, &pin)) return NULL;
    const float *logits = (const float *)(uintptr_t)logits_at;
    const char *labels = (const char *)(uintptr_t)labels_at;
    int64_t *targets = (int64_t *)(uintptr_t)targets_at;
    int room = make_scratch(&scratch, steps < m ? steps : m);
    for (i = 0; room && i < batch; i++)
        if (!align_image(logits + i * steps * (m + 1), labels + i * m, targets + i * steps, steps, m, pin, &scratch))
            break;
    PyMem_Free(scratch.cost), PyMem_Free(scratch.row_of), PyMem_Free(scratch.visited);
    return room ? PyLong_FromSsize_t(i < batch ? i : -1) : PyErr_NoMemory();
}

static PyMethodDef methods[] = {{"align", align, METH_VARARGS, align_doc}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_align", .m_doc = "Alignment of a batch, in C.", .m_methods = methods};

PyMODINIT_FUNC PyInit__align(void) { return PyModuleDef_Init(&module); }
