# One file for every process: `service` runs the gateway, the verifier, the agent worker or the bookkeeper, by its command;
# `devnet` runs a local chain with a USDC-like token, for trying things out.

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/client/package.json packages/client/
COPY packages/middleware/package.json packages/middleware/
COPY packages/agent-kit/package.json packages/agent-kit/
# No package's script runs. Two have native code: secp256k1 brings its binary for Linux x64 (elsewhere signatures are made in WASM),
# msgpackr-extract is optional, and BullMQ does without it.
RUN npm ci --ignore-scripts --no-progress --loglevel=error
COPY . .
RUN npm run build

FROM build AS pruned
# The optional packages belong to the devnet; the libraries are bundled, so packages that only the agent kit needs are left out.
RUN npm prune --ignore-scripts --omit=dev --omit=optional --no-workspaces --no-progress --loglevel=error

FROM build AS devnet
# Compiles the contracts once, so that a start needs no compiler.
RUN node tools/devnet/contracts/compile.mjs && chown -R node:node .tollgate
USER node
EXPOSE 8545
HEALTHCHECK --interval=2s --timeout=3s --start-period=30s --retries=15 CMD ["node", "deploy/healthcheck.mjs", "devnet"]
CMD ["node", "--import", "tsx", "tools/devnet/serve.ts"]

FROM node:22-bookworm-slim AS service
ENV NODE_ENV=production
WORKDIR /app
COPY --from=pruned /app/package.json ./
COPY --from=pruned /app/node_modules ./node_modules
COPY --from=pruned /app/dist ./dist
COPY --from=pruned /app/deploy ./deploy
RUN ln -s /app/dist/tollgate.js /usr/local/bin/tollgate
USER node
EXPOSE 4020 4021 4022 4023
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s --retries=3 CMD ["node", "deploy/healthcheck.mjs"]
# Keeps V8 from shrinking the young generation while idle; otherwise half the time of an answer is garbage collection.
CMD ["node", "--enable-source-maps", "--min-semi-space-size=16", "dist/apps/gateway/main.js"]
