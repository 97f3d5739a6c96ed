// Encodes and decodes a list of texts with the reference library (npm package "tokenizers").
// usage: node oracle.mjs TOKENIZER.json TEXTS.json > ANSWERS.jsonl   one {"ids": [...], "text": "..."} a line; the first line says
// how many special tokens an encode adds.
import { createRequire } from 'node:module'
import { readFileSync, writeSync } from 'node:fs'

const require = createRequire(process.cwd() + '/')
const { Tokenizer } = require('tokenizers')

const [file, texts] = process.argv.slice(2)
const tokenizer = Tokenizer.fromFile(file)
tokenizer.disableTruncation()
tokenizer.disablePadding()
const put = (value) => {
  let bytes = Buffer.from(JSON.stringify(value) + '\n')
  while (bytes.length > 0) {
    try { bytes = bytes.subarray(writeSync(1, bytes)) } catch (e) { if (e.code !== 'EAGAIN') throw e }
  }
}
const plain = { addSpecialTokens: false }
const wrapped = (await tokenizer.encode('x', null, { addSpecialTokens: true })).getIds()
const bare = (await tokenizer.encode('x', null, plain)).getIds()
put({ added: wrapped.length - bare.length })

const all = JSON.parse(readFileSync(texts, 'utf8'))
for (let i = 0; i < all.length; i += 500) {
  const part = all.slice(i, i + 500)
  const ids = (await tokenizer.encodeBatch(part, plain)).map((e) => e.getIds())
  const back = await tokenizer.decodeBatch(ids, false)
  ids.forEach((x, k) => put({ ids: x, text: back[k] }))
}
