# SPDX-License-Identifier: MIT
"""What test_gpt2.c reads, of a random model of 3 million parameters: llm.c's own model in PyTorch, and what it gives."""

import torch
import train_gpt2

torch.manual_seed(1)
model = train_gpt2.GPT(train_gpt2.GPTConfig(block_size=64, vocab_size=50257, n_layer=2, n_head=4, n_embd=64))
x, y = torch.randint(0, 50257, (2, 2, 32))
logits, loss = model(x, y)
loss.backward()
train_gpt2.write_model(model, "gpt2_124M.bin", dtype="float32")
train_gpt2.write_state(model, x, y, logits, loss, "gpt2_124M_debug_state.bin")
