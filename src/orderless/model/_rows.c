/* A linear layer for a row or a few; stepping.py does the same without this file.

   Such a product takes as long as its weights take to come from memory. Libraries for matrices are made for many rows
   and reach a third of the memory's speed here; one plain pass over the weights reaches nearly all of it. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "wide_vectors.h"

#define LANES 32 /* sums that do not wait for one another */

WIDE_VECTORS static void multiply(const float *inputs, const float *weight, const float *bias, float *outputs,
                                  Py_ssize_t rows, Py_ssize_t in, Py_ssize_t out)
{
    Py_ssize_t i, j, row, lane;
    for (j = 0; j < out; j++, weight += in)
        for (row = 0; row < rows; row++) { /* after the first row the weights come from the cache */
            const float *input = inputs + row * in;
            float sums[LANES] = {0}, sum = bias ? bias[j] : 0;
            for (i = 0; i + LANES <= in; i += LANES)
                for (lane = 0; lane < LANES; lane++) sums[lane] += weight[i + lane] * input[i + lane];
            for (; i < in; i++) sum += weight[i] * input[i];
            for (lane = 0; lane < LANES; lane++) sum += sums[lane];
            outputs[row * out + j] = sum;
        }
}

PyDoc_STRVAR(linear_doc, "linear(inputs, weight, bias, outputs) -> None\n\n\
Fill outputs [R, out] with inputs [R, in] times weight [out, in], plus bias [out] unless that is None. All are float32\n\
without gaps. Raises ValueError for anything else.");

static int is_matrix(const Py_buffer *view, int dimensions)
{
    return view->ndim == dimensions && view->format && !strcmp(view->format, "f") && view->itemsize == 4 &&
           (uintptr_t)view->buf % sizeof(float) == 0;
}

static PyObject *linear(PyObject *Py_UNUSED(self), PyObject *const *args, Py_ssize_t count)
{
    static const int wanted = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;
    Py_buffer inputs = {0}, weight = {0}, bias = {0}, outputs = {0};
    Py_ssize_t rows, in, out;
    int failed = 1;
    if (count != 4) return PyErr_SetString(PyExc_TypeError, "linear takes four arrays"), NULL;
    if (PyObject_GetBuffer(args[0], &inputs, wanted) || PyObject_GetBuffer(args[1], &weight, wanted) ||
        (args[2] != Py_None && PyObject_GetBuffer(args[2], &bias, wanted)) ||
        PyObject_GetBuffer(args[3], &outputs, wanted | PyBUF_WRITABLE))
        goto done;
    if (!is_matrix(&inputs, 2) || !is_matrix(&weight, 2) || (bias.obj && !is_matrix(&bias, 1)) ||
        !is_matrix(&outputs, 2))
        goto refuse;
    rows = inputs.shape[0], in = inputs.shape[1], out = weight.shape[0];
    if (weight.shape[1] != in || outputs.shape[0] != rows || outputs.shape[1] != out ||
        (bias.obj && bias.shape[0] != out))
        goto refuse;
    Py_BEGIN_ALLOW_THREADS;
    multiply(inputs.buf, weight.buf, bias.buf, outputs.buf, rows, in, out);
    Py_END_ALLOW_THREADS;
    failed = 0;
    goto done;
refuse:
    PyErr_SetString(PyExc_ValueError, "arrays of other kinds or shapes");
done: /* to release what was never asked for does nothing */
    PyBuffer_Release(&inputs), PyBuffer_Release(&weight), PyBuffer_Release(&bias), PyBuffer_Release(&outputs);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"linear", (PyCFunction)(void (*)(void))linear, METH_FASTCALL, linear_doc},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_rows", .m_doc = "Products of a few rows, in C.", .m_methods = methods};

PyMODINIT_FUNC PyInit__rows(void) { return PyModuleDef_Init(&module); }
