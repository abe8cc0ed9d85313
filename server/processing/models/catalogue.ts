import { whisperLanguages } from "../../../contract/workspace/whisper-languages.ts";

/** A file of a model. */
export interface ModelFile {
  /** Its name in the model's folder. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A file of the catalogue, with where it is published. */
interface CatalogueFile extends ModelFile {
  readonly url: string;
}

/** `transducer` and `whisper` recognize words, `speakers` tells voices apart, `language` writes. */
export type ModelKind = "transducer" | "whisper" | "speakers" | "language";

/** A model that Parley can download. */
export interface CatalogueModel {
  readonly name: string;
  readonly kind: ModelKind;
  /** One sentence for users. */
  readonly description: string;
  readonly license: string;
  /** Who made it; the license may require to name them. */
  readonly attribution: string;
  readonly source: string;
  readonly revision: string;
  /** Codes of the languages it knows; null: it does not depend on the language. */
  readonly languages: readonly string[] | null;
  readonly files: readonly CatalogueFile[];
  /** Whether it is what its engine uses by default. */
  readonly isDefault: boolean;
}

/** Where the files of one revision of a Hugging Face repository are. */
const huggingFace = (repository: string, revision: string) => (file: string) =>
  `https://huggingface.co/${repository}/resolve/${revision}/${file}`;

const parakeetRevision = "2bda32ec70b097a55adaa07d9a7173915b43cc78";
const parakeet = huggingFace("csukuangfj/sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8", parakeetRevision);
const whisperRevision = "9a896a02c311676d366ebfda3797753df4153fe2";
const whisper = huggingFace("clairemcw/sherpa-onnx-whisper-small-attention", whisperRevision);

const qwen17bRevision = "d7f544eead698dbd1f15126ef60b45a1e1933222";
const qwen4bRevision = "ae44f08e1392f39c0e474af10c3ff8355c8b6688";

/** Every model that Parley offers, at a fixed revision and with the hash of each file; the first of a kind is preferred. */
export const catalogue: readonly CatalogueModel[] = [
  {
    name: "parakeet-v3",
    kind: "transducer",
    description: "Transcribes 25 European languages and detects the language.",
    license: "CC-BY-4.0",
    attribution: "Parakeet TDT 0.6B v3 by NVIDIA, converted by the sherpa-onnx project",
    source: "https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3",
    revision: parakeetRevision,
    isDefault: true,
    languages: "bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk".split(" "),
    files: [
      {
        name: "encoder.int8.onnx",
        bytes: 652_184_281,
        sha256: "acfc2b4456377e15d04f0243af540b7fe7c992f8d898d751cf134c3a55fd2247",
        url: parakeet("encoder.int8.onnx"),
      },
      {
        name: "decoder.int8.onnx",
        bytes: 11_845_275,
        sha256: "179e50c43d1a9de79c8a24149a2f9bac6eb5981823f2a2ed88d655b24248db4e",
        url: parakeet("decoder.int8.onnx"),
      },
      {
        name: "joiner.int8.onnx",
        bytes: 6_355_277,
        sha256: "3164c13fc2821009440d20fcb5fdc78bff28b4db2f8d0f0b329101719c0948b3",
        url: parakeet("joiner.int8.onnx"),
      },
      {
        name: "tokens.txt",
        bytes: 93_939,
        sha256: "d58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d",
        url: parakeet("tokens.txt"),
      },
    ],
  },
  {
    name: "whisper-small",
    kind: "whisper",
    description: "Transcribes about 100 languages, slower and less accurately than parakeet-v3.",
    license: "MIT",
    attribution: "Whisper small by OpenAI, converted for sherpa-onnx by a third party",
    source: "https://huggingface.co/clairemcw/sherpa-onnx-whisper-small-attention",
    revision: whisperRevision,
    isDefault: false,
    languages: whisperLanguages,
    files: [
      {
        name: "small-encoder.int8.onnx",
        bytes: 112_445_386,
        sha256: "570e2b92cce6a8be62dc37934057b82dd601298ecb3a2a25161542e2b59862aa",
        url: whisper("small-encoder.int8.onnx"),
      },
      {
        name: "small-decoder.int8.onnx",
        bytes: 262_482_583,
        sha256: "63233cc33d6c11ae514467a69132de87cc61e6b28d3dab40cdf8b0e3060a3439",
        url: whisper("small-decoder.int8.onnx"),
      },
      {
        name: "small-tokens.txt",
        bytes: 816_730,
        sha256: "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126",
        url: whisper("small-tokens.txt"),
      },
    ],
  },
  {
    name: "speakers",
    kind: "speakers",
    description: "Tells the speakers of a recording apart.",
    license: "CC-BY-4.0",
    attribution: "TitaNet small by NVIDIA, converted by the sherpa-onnx project",
    source: "https://github.com/k2-fsa/sherpa-onnx",
    // The tag's spelling is theirs.
    revision: "speaker-recongition-models",
    isDefault: false,
    languages: null,
    files: [
      {
        name: "embedding.onnx",
        bytes: 40_257_283,
        sha256: "ad4a1802485d8b34c722d2a9d04249662f2ece5d28a7a039063ca22f515a789e",
        url: "https://github.com/k2-fsa/sherpa-onnx/releases/download/speaker-recongition-models/nemo_en_titanet_small.onnx",
      },
    ],
  },
  {
    name: "qwen3-4b",
    kind: "language",
    description: "Writes summaries and replies to questions about meetings, in about 100 languages.",
    license: "Apache-2.0",
    attribution: "Qwen3 4B Instruct 2507 by Alibaba Cloud, converted by a third party",
    source: "https://huggingface.co/Qwen/Qwen3-4B-Instruct-2507",
    revision: qwen4bRevision,
    isDefault: true,
    languages: null,
    files: [
      {
        name: "Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
        bytes: 2_497_280_736,
        sha256: "2fde00ce69dd4899c70d020845e2638353015bba0fdf161b3eb965f2bca4464e",
        url: huggingFace(
          "bartowski/Qwen_Qwen3-4B-Instruct-2507-GGUF",
          qwen4bRevision,
        )("Qwen_Qwen3-4B-Instruct-2507-Q4_K_M.gguf"),
      },
    ],
  },
  {
    name: "qwen3-1.7b",
    kind: "language",
    description: "For machines with little memory; faster and less accurate than qwen3-4b.",
    license: "Apache-2.0",
    attribution: "Qwen3 1.7B by Alibaba Cloud, converted by Unsloth",
    source: "https://huggingface.co/Qwen/Qwen3-1.7B",
    revision: qwen17bRevision,
    isDefault: false,
    languages: null,
    files: [
      {
        name: "Qwen3-1.7B-Q4_K_M.gguf",
        bytes: 1_107_409_472,
        sha256: "b139949c5bd74937ad8ed8c8cf3d9ffb1e99c866c823204dc42c0d91fa181897",
        url: huggingFace("unsloth/Qwen3-1.7B-GGUF", qwen17bRevision)("Qwen3-1.7B-Q4_K_M.gguf"),
      },
    ],
  },
];

type Kinded = { readonly kind: ModelKind };
export const isLanguage = ({ kind }: Kinded): boolean => kind === "language";
export const isRecognition = ({ kind }: Kinded): boolean => kind === "transducer" || kind === "whisper";

/** @returns undefined when Parley does not offer such a model. */
export function findInCatalogue(name: string): CatalogueModel | undefined {
  return catalogue.find((model) => model.name === name);
}

/** Memory of a language model beyond its file: a context of 8,192 tokens takes 1.2 GB with 4 billion parameters. */
export const languageWorkMb = 2048;

/** Bytes of all files. */
export function sizeOf(model: { readonly files: readonly ModelFile[] }): number {
  return model.files.reduce((sum, { bytes }) => sum + bytes, 0);
}
