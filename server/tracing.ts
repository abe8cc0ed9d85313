import type { FastifyBaseLogger } from "fastify";
import { type Config, ConfigError } from "./platform/config/config.ts";
import { setTracing, type Tracing } from "./platform/telemetry/trace.ts";

const endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;

/**
 * Records traces if one of OpenTelemetry's variables names a collector. Its packages are loaded only then.
 * @returns null without a collector.
 * @throws ConfigError if the variable is not a URL.
 */
export async function startTracing(
  env: Readonly<Record<string, string | undefined>>,
  { role }: Pick<Config, "role">,
  log: Pick<FastifyBaseLogger, "warn" | "info">,
): Promise<Tracing | null> {
  const name = endpoints.find((variable) => env[variable]?.trim());
  if (name === undefined || isOff(env)) return null;
  const url = URL.parse(env[name] ?? "");
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`invalid setting: ${name} must be an http or https URL`);
  const { recordTraces } = await import("./platform/telemetry/otel.ts");
  const tracing = recordTraces(role, log);
  setTracing(tracing);
  // Without user name and password.
  log.info({ collector: url.host }, "sending traces");
  return {
    ...tracing,
    async stop() {
      setTracing(null);
      await tracing.stop();
    },
  };
}

/** Variables of OpenTelemetry's specification that its packages leave to the program. */
function isOff(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none";
}
