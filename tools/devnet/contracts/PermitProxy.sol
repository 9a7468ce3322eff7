// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title The part of Permit2 that is used here
interface IPermit2 {
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    struct PermitTransferFrom {
        TokenPermissions permitted;
        uint256 nonce;
        uint256 deadline;
    }

    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Moves a token as its owner signed it. The caller must be the signed spender.
    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit,
        SignatureTransferDetails calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}

/// @title The common part of the proxies that settle x402 payments by Permit2
/// @notice A payer signs a proxy as spender, and the recipient in the witness, which the proxy enforces. So no sender of
/// the permit can redirect the money.
/// @dev Without storage and immutables, because the devnet places only the code, at the address that payers sign for.
abstract contract PermitProxy is ReentrancyGuardTransient {
    /// @notice The contract that the payer has approved.
    IPermit2 public constant PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    /// @notice A payment was settled; the token's own log identifies it.
    event Settled();

    /// @notice The amount is zero.
    error InvalidAmount();

    /// @notice The owner is the zero address.
    error InvalidOwner();

    /// @notice The recipient is the zero address, which would burn the tokens.
    error InvalidDestination();

    /// @notice The payer's `validAfter` is in the future.
    error PaymentTooEarly();

    function _settle(
        IPermit2.PermitTransferFrom calldata permit,
        IPermit2.SignatureTransferDetails memory details,
        address owner,
        uint256 validAfter,
        bytes32 witness,
        string memory witnessTypeString,
        bytes calldata signature
    ) internal {
        require(details.requestedAmount > 0, InvalidAmount());
        require(owner != address(0), InvalidOwner());
        require(details.to != address(0), InvalidDestination());
        require(block.timestamp >= validAfter, PaymentTooEarly());
        PERMIT2.permitWitnessTransferFrom(permit, details, owner, witness, witnessTypeString, signature);
        emit Settled();
    }
}
