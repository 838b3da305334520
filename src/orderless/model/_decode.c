/* Greedy decoding of one image; decoder.py says what that is, and does the same without this file.

   A step multiplies a vector with every weight of the decoder once, so it takes as long as reading them does. Libraries
   for matrices are made for many rows; for one they leave most of the memory's speed unused, and each of a step's thirty
   operations costs as much again to call. Here a step is one pass over the weights. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "wide_vectors.h"

#define WIDTH 8 /* numbers of a vector */
#define SUMS 4  /* vectors that are summed up side by side */
#define NO_LABEL -1

typedef float Vector __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

typedef struct {
    const float *weight, *bias; /* [out, in], [out] or NULL */
    Py_ssize_t out, in;
} Linear;

typedef struct {
    Linear initial_hidden, initial_cell; /* [H, C] */
    Linear from_hidden, gate;            /* of the attention: [A, H], [C, H] */
    const float *score;                  /* [A] */
    Linear inputs, hidden;               /* of the LSTM: [4 H, E + C], without attention [4 H, E]; [4 H, H] */
    Linear output;                       /* [m + 1, H] */
    const float *embedding;              /* [m + 2, E] */
    Py_ssize_t E, H, A, C;               /* sizes; A = 0 without attention */
} Decoder;

typedef struct {
    int64_t *sequence;    /* [steps] labels, and NO_LABEL from the end on */
    uint8_t *labels;      /* [m] whether it was written */
    float *scores;        /* [m] the probability that it is written at one step or another */
    float *probabilities; /* [steps, m + 1], zero after the end */
    float *weights;       /* [steps, cells] of the attention, zero after the end; NULL without attention */
} Result;

/* e to the x, for x from -87 to 88 (and for others as for those), to one unit in the last place; plain arithmetic, so
   that loops over it become vectors. */
static inline float power(float x)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23: to add and subtract it rounds to a whole number */
    x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
    const float shifted = x * 1.44269504f + shift, whole = shifted - shift;
    const float r = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float value = 1.9875691500e-4f;
    value = value * r + 1.3981999507e-3f;
    value = value * r + 8.3334519073e-3f;
    value = value * r + 4.1665795894e-2f;
    value = value * r + 1.6666665459e-1f;
    value = value * r + 5.0000001201e-1f;
    value = value * r * r + r + 1.0f;
    uint32_t bits; /* the last of the shifted number are the whole number */
    float scale;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&scale, &bits, sizeof scale);
    return value * scale;
}

static inline float sigmoid(float x) { return 1.0f / (1.0f + power(-x)); }

/* Near zero by its series: the difference below would lose half of its digits there. */
static inline float tanh_of(float x)
{
    const float square = x * x, far = 1.0f - 2.0f / (power(2.0f * x) + 1.0f);
    const float near = x * (1.0f + square * (-0.333333333f + square * (0.133333333f + square * -0.053968254f)));
    return square < 0.01f ? near : far;
}

/* place [out] = weight x + bias, or place + weight x + bias. One row after another, as they lie in memory: a processor
   fetches ahead what is read in order. */
WIDE_VECTORS static void multiply(const Linear *linear, const float *x, float *place, int add)
{
    const Py_ssize_t in = linear->in, whole = in / (SUMS * WIDTH) * (SUMS * WIDTH);
    const float *weight = linear->weight;
    for (Py_ssize_t row = 0; row < linear->out; row++, weight += in) {
        Vector sums[SUMS] = {{0}};
        Py_ssize_t i;
        for (i = 0; i < whole; i += SUMS * WIDTH)
            for (int k = 0; k < SUMS; k++)
                sums[k] += *(const Vector *)(weight + i + k * WIDTH) * *(const Vector *)(x + i + k * WIDTH);
        const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        float sum = ((all[0] + all[4]) + (all[1] + all[5])) + ((all[2] + all[6]) + (all[3] + all[7]));
        for (; i < in; i++) sum += weight[i] * x[i];
        if (linear->bias) sum += linear->bias[row];
        place[row] = add ? place[row] + sum : sum;
    }
}

WIDE_VECTORS static float tanh_score(const float *projected, const float *asked, const float *score, Py_ssize_t size)
{
    float block[64], sum = 0.0f;
    for (Py_ssize_t start = 0; start < size; start += 64) {
        const Py_ssize_t count = size - start < 64 ? size - start : 64;
        for (Py_ssize_t i = 0; i < count; i++)
            block[i] = tanh_of(projected[start + i] + asked[start + i]) * score[start + i];
        for (Py_ssize_t i = 0; i < count; i++) sum += block[i];
    }
    return sum;
}

static float largest(const float *values, Py_ssize_t size)
{
    float top = values[0];
    for (Py_ssize_t i = 1; i < size; i++) top = values[i] > top ? values[i] : top;
    return top;
}

/* `place` may be the same as `values`. */
WIDE_VECTORS static void softmax(const float *values, float *place, Py_ssize_t size)
{
    const float top = largest(values, size);
    float sum = 0.0f;
    for (Py_ssize_t i = 0; i < size; i++) place[i] = power(values[i] - top);
    for (Py_ssize_t i = 0; i < size; i++) sum += place[i];
    for (Py_ssize_t i = 0; i < size; i++) place[i] /= sum;
}

/* context [C] = the sum of the cells, features [cells, C], each times its weight. */
WIDE_VECTORS static void weighted_sum(const float *restrict features, const float *restrict weights, Py_ssize_t cells,
                                      float *restrict context, Py_ssize_t size)
{
    memset(context, 0, (size_t)size * sizeof *context);
    for (Py_ssize_t cell = 0; cell < cells; cell++, features += size)
        for (Py_ssize_t i = 0; i < size; i++) context[i] += weights[cell] * features[i];
}

/* `gate` is before its sigmoid. */
WIDE_VECTORS static void open_gate(float *restrict context, const float *restrict gate, Py_ssize_t size)
{
    for (Py_ssize_t i = 0; i < size; i++) context[i] *= sigmoid(gate[i]);
}

WIDE_VECTORS static void remember(const float *restrict gates, float *restrict cell, float *restrict hidden, Py_ssize_t H)
{
    const float *enter = gates, *keep = gates + H, *new = gates + 2 * H, *show = gates + 3 * H;
    for (Py_ssize_t i = 0; i < H; i++) {
        cell[i] = sigmoid(keep[i]) * cell[i] + sigmoid(enter[i]) * tanh_of(new[i]);
        hidden[i] = sigmoid(show[i]) * tanh_of(cell[i]);
    }
}

/* The first largest; one that is not a number counts as the largest, as it does to PyTorch. */
static Py_ssize_t argmax(const float *values, Py_ssize_t size)
{
    Py_ssize_t best = 0;
    for (Py_ssize_t i = 0; i < size && values[best] == values[best]; i++)
        if (!(values[i] <= values[best])) best = i;
    return best;
}

/* Reshift the number of steps, the one that says "end" among them. */
static Py_ssize_t decode(const Decoder *d, const float *features, const float *projected, Py_ssize_t cells,
                         Py_ssize_t limit, Result result, float *scratch)
{
    const Py_ssize_t outputs = d->output.out, end = outputs - 1;
    float *hidden = scratch, *cell = hidden + d->H, *gates = cell + d->H, *inputs = gates + 4 * d->H;
    float *context = inputs + d->E, *gate = context + d->C, *asked = gate + d->C, *logits = asked + d->A;
    float *equal = logits + outputs; /* weights of cells that all count the same */
    Py_ssize_t token = end + 1 /* the start token */, step, i;
    for (i = 0; i < cells; i++) equal[i] = 1.0f / (float)cells;
    weighted_sum(features, equal, cells, context, d->C);
    multiply(&d->initial_hidden, context, hidden, 0);
    multiply(&d->initial_cell, context, cell, 0);
    for (i = 0; i < end; i++) result.labels[i] = 0, result.scores[i] = 1.0f; /* that it is not written, at first */
    for (step = 0; step < limit; step++) {
        float *probabilities = result.probabilities + step * outputs;
        float *weights = d->A ? result.weights + step * cells : NULL;
        if (token == end) { /* nothing counts after the end */
            result.sequence[step] = NO_LABEL;
            memset(probabilities, 0, (size_t)outputs * sizeof *probabilities);
            if (d->A) memset(weights, 0, (size_t)cells * sizeof *weights);
            continue;
        }
        memcpy(inputs, d->embedding + token * d->E, (size_t)d->E * sizeof *inputs);
        if (d->A) {
            multiply(&d->from_hidden, hidden, asked, 0);
            for (i = 0; i < cells; i++) weights[i] = tanh_score(projected + i * d->A, asked, d->score, d->A);
            softmax(weights, weights, cells);
            weighted_sum(features, weights, cells, context, d->C);
            multiply(&d->gate, hidden, gate, 0);
            open_gate(context, gate, d->C);
        }
        multiply(&d->inputs, inputs, gates, 0);
        multiply(&d->hidden, hidden, gates, 1);
        remember(gates, cell, hidden, d->H);
        multiply(&d->output, hidden, logits, 0);
        softmax(logits, probabilities, outputs);
        for (i = 0; i < end; i++) result.scores[i] *= 1.0f - probabilities[i];
        token = argmax(logits, outputs);
        result.sequence[step] = token == end ? NO_LABEL : token;
        if (token < end) result.labels[token] = 1;
    }
    for (i = 0; i < end; i++) result.scores[i] = 1.0f - result.scores[i];
    for (step = limit; step > 1 && result.sequence[step - 2] == NO_LABEL;) step--;
    return step;
}

PyDoc_STRVAR(decode_doc, "decode(sizes, weights, images, results) -> steps\n\n\
As many steps as the longest image takes. All tensors are given by the addresses of their numbers, without gaps:\n\
sizes    (embedding, hidden, attention, features, outputs, images, cells, step limit); attention 0 without it\n\
weights  (initial hidden state and bias, initial cell and bias, from_hidden, score, gate and bias, weight_ih, bias_ih,\n\
         weight_hh, bias_hh, output and bias, embedding)\n\
images   (features [B, cells, C], projected [B, cells, A])\n\
results  (sequence [B, limit] int64, labels [B, m] bool, scores [B, m], probabilities [B, limit, m + 1],\n\
         attention weights [B, limit, cells])");

static PyObject *py_decode(PyObject *Py_UNUSED(self), PyObject *args)
{
    Py_ssize_t E, H, A, C, outputs, images, cells, limit, longest = 0;
    unsigned long long w[15], image[2], results[5];
    if (!PyArg_ParseTuple(args, "(nnnnnnnn)(KKKKKKKKKKKKKKK)(KK)(KKKKK)", &E, &H, &A, &C, &outputs, &images, &cells,
                          &limit, w, w + 1, w + 2, w + 3, w + 4, w + 5, w + 6, w + 7, w + 8, w + 9, w + 10, w + 11, w + 12,
                          w + 13, w + 14, image, image + 1, results, results + 1, results + 2, results + 3, results + 4))
        return NULL;
#define FLOATS(address) ((float *)(uintptr_t)(address))
    const Decoder decoder = {.initial_hidden = {FLOATS(w[0]), FLOATS(w[1]), H, C},
                             .initial_cell = {FLOATS(w[2]), FLOATS(w[3]), H, C},
                             .from_hidden = {FLOATS(w[4]), NULL, A, H},
                             .score = FLOATS(w[5]),
                             .gate = {FLOATS(w[6]), FLOATS(w[7]), C, H},
                             .inputs = {FLOATS(w[8]), FLOATS(w[9]), 4 * H, A ? E + C : E},
                             .hidden = {FLOATS(w[10]), FLOATS(w[11]), 4 * H, H},
                             .output = {FLOATS(w[12]), FLOATS(w[13]), outputs, H},
                             .embedding = FLOATS(w[14]),
                             .E = E, .H = H, .A = A, .C = C};
    float *scratch = PyMem_RawMalloc((size_t)(6 * H + E + 2 * C + A + outputs + cells) * sizeof *scratch);
    if (!scratch) return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; i < images; i++) {
        const Result result = {(int64_t *)(uintptr_t)results[0] + i * limit, (uint8_t *)(uintptr_t)results[1] + i * (outputs - 1),
                               FLOATS(results[2]) + i * (outputs - 1), FLOATS(results[3]) + i * limit * outputs,
                               A ? FLOATS(results[4]) + i * limit * cells : NULL};
        const Py_ssize_t steps = decode(&decoder, FLOATS(image[0]) + i * cells * C, A ? FLOATS(image[1]) + i * cells * A : NULL, cells,
                                        limit, result, scratch);
        longest = steps > longest ? steps : longest;
    }
    Py_END_ALLOW_THREADS;
    PyMem_RawFree(scratch);
    return PyLong_FromSsize_t(longest);
}

static PyMethodDef methods[] = {{"decode", py_decode, METH_VARARGS, decode_doc}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_decode", .m_doc = "The label decoder's steps, in C.", .m_methods = methods};

PyMODINIT_FUNC PyInit__decode(void) { return PyModuleDef_Init(&module); }
