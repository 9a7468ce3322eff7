// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";

/// @title The devnet's USDC
/// @notice An ERC-20 token of 6 decimals with the signed calls of the real one: EIP-2612 `permit` and EIP-3009
/// authorizations, both under the EIP-712 domain ("USDC", "2"). Anyone may mint: never deploy it where money is real.
/// @dev The devnet places the runtime code at a fixed address without running the constructor there. So nothing may live
/// in constructor-set storage: name and symbol are constants, and the EIP-712 domain is kept in immutables, whose
/// separator OpenZeppelin builds anew when the code runs at another address than the one it was made at.
contract Usdc is ERC3009, Nonces, IERC20Permit {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// @notice The permit's deadline has passed.
    error PermitExpired(uint256 deadline);

    /// @notice The permit was not signed by the owner.
    error PermitNotSignedByOwner(address owner);

    constructor() ERC20("USDC", "USDC") EIP712("USDC", "2") {}

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to The recipient.
    /// @param amount The amount, in base units (10^-6 of a token).
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function name() public pure override returns (string memory) {
        return "USDC";
    }

    /// @inheritdoc ERC20
    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @notice The version in the EIP-712 domain.
    function version() external pure returns (string memory) {
        return "2";
    }

    /// @inheritdoc IERC20Permit
    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @inheritdoc IERC20Permit
    function nonces(address owner) public view override(IERC20Permit, Nonces) returns (uint256) {
        return super.nonces(owner);
    }

    /// @inheritdoc IERC20Permit
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        require(block.timestamp <= deadline, PermitExpired(deadline));
        bytes32 hash = _hashTypedDataV4(
            keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, _useNonce(owner), deadline))
        );
        require(owner == ECDSA.recover(hash, v, r, s), PermitNotSignedByOwner(owner));
        _approve(owner, spender, value);
    }

    /// @notice EIP-3009 transfer with the signature as bytes: accounts (65 bytes) and contract wallets (EIP-1271).
    /// @param from The payer, which signed.
    /// @param to The recipient.
    /// @param value The amount, in base units.
    /// @param validAfter The authorization holds after this Unix time, in seconds.
    /// @param validBefore The authorization holds before this Unix time, in seconds.
    /// @param nonce 32 bytes that `from` uses once.
    /// @param signature Over TransferWithAuthorization in this token's EIP-712 domain.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        _requireSigned(
            from,
            keccak256(abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)),
            signature
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @notice EIP-3009 transfer that only its receiver may submit, with the signature as bytes.
    /// @param from The payer, which signed.
    /// @param to The recipient, which must be the caller.
    /// @param value The amount, in base units.
    /// @param validAfter The authorization holds after this Unix time, in seconds.
    /// @param validBefore The authorization holds before this Unix time, in seconds.
    /// @param nonce 32 bytes that `from` uses once.
    /// @param signature Over ReceiveWithAuthorization in this token's EIP-712 domain.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) external {
        require(to == _msgSender(), ERC20InvalidReceiver(to));
        _requireSigned(
            from,
            keccak256(abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)),
            signature
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @notice Makes an authorization unusable, with the signature as bytes.
    /// @param authorizer The account that signed the authorization and signs this.
    /// @param nonce The authorization's nonce.
    /// @param signature Over CancelAuthorization in this token's EIP-712 domain.
    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) external {
        _requireSigned(authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), signature);
        _cancelAuthorization(authorizer, nonce);
    }

    function _requireSigned(address signer, bytes32 structHash, bytes memory signature) private view {
        bytes32 hash = _hashTypedDataV4(structHash);
        require(SignatureChecker.isValidSignatureNow(signer, hash, signature), ERC3009InvalidSignature());
    }
}
