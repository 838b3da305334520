"""The semantic decoder: class probabilities are all the RNN sees."""

from __future__ import annotations

import torch

from orderless.model.semantic import SemanticDecoder


def test_probabilities_are_the_only_interface() -> None:
    torch.manual_seed(0)
    head, features = SemanticDecoder(8, 5, hidden_size=12, embedding_size=6).eval(), torch.randn(4, 9, 8)
    class_logits, logits = head(features, 3)
    assert class_logits.shape == (4, 5)
    # The decoder, told nothing but the probabilities, says the same.
    assert torch.equal(logits, head.decoder(class_logits.sigmoid().unsqueeze(1), 3)[0])
    images = head.decoder._begin(class_logits.sigmoid().unsqueeze(1))
    weight, bias = head.decoder.initial_hidden.weight, head.decoder.initial_hidden.bias
    assert torch.allclose(images.hidden, class_logits.sigmoid() @ weight.T + bias)


def test_the_decoders_loss_reaches_the_cnn() -> None:
    head, features = SemanticDecoder(8, 5, hidden_size=12, embedding_size=6), torch.randn(2, 4, 8, requires_grad=True)
    head(features, 2)[1].sum().backward()
    assert features.grad is not None
    assert (features.grad != 0).any()


def test_it_writes_a_sequence_and_shows_where_the_cnn_saw_each_label() -> None:
    torch.manual_seed(1)
    head, features = SemanticDecoder(8, 5, hidden_size=12, embedding_size=6, max_steps=4).eval(), torch.randn(4, 9, 8)
    prediction = head.predict(features)
    assert prediction.written is not None
    assert prediction.attention is not None
    evidence = head.classifier(features).softmax(1)  # [B, cells, m]
    for image, row in enumerate(prediction.written.tolist()):
        for step, label in enumerate(row):
            if label >= 0:
                assert torch.equal(prediction.attention[image, step], evidence[image, :, label])
