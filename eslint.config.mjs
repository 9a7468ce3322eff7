import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

import { importOrder } from './scripts/eslint-import-order.mjs';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'coverage/**',
      'node_modules/**',
      'bench/peers/**',
      '.tollgate/**',
      '**/.next/**',
      '**/*.cjs',
      '**/*.mjs',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { tollgate: { rules: { 'import-order': importOrder } } },
    rules: {
      'tollgate/import-order': 'error',
      'no-duplicate-imports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
    },
  },
  {
    // Money is base units or decimal text: parseTokenAmount and formatTokenAmount are exact, these are not.
    files: ['libs/**/*.ts', 'packages/**/*.ts', 'apps/**/*.ts', 'tools/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', { name: 'parseFloat', message: 'Parse amounts with parseTokenAmount.' }],
      'no-restricted-properties': [
        'error',
        { property: 'toFixed', message: 'Format amounts with formatTokenAmount.' },
        { property: 'toPrecision', message: 'Format amounts with formatTokenAmount.' },
        { object: 'Number', property: 'parseFloat', message: 'Parse amounts with parseTokenAmount.' },
      ],
    },
  },
  {
    // Tests read unparsed answers on purpose.
    files: ['**/*.spec.ts', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
    },
  },
  prettier,
);
